// RUN: titan-opt %s --titan-decompose -verify-diagnostics

// A sharded operation is not decomposed.
dist.mesh @mesh [#dist.axis<tp = 2>]
!x = !titan.tensor<f32[seq = 8, head = 4], <[{tp}, {}]>>
func.func @turn(%x: !x) -> !x {
  // expected-error @+1 {{cannot be decomposed: it already has a sharding; decompose before the shard phase}}
  %r = titan.rotary %x along "seq" dim "head" {theta = 1.0e+04} : !x -> !x
  return %r : !x
}
