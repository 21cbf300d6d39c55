// RUN: titan-opt %s --titan-balance-stages -verify-diagnostics

!s = !titan.tensor<f32[]>

// Costs depend on the schedule, which must exist.
dist.mesh @mesh [#dist.axis<pp = 2>]
// expected-error @below {{zbv has 2 stages a rank, not 1}}
dist.pipeline "pp" over "layers" layers_per_stage [1, 1] by_cost schedule "zbv" microbatches 4
func.func @train(%x: !s {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  return %x : !s
}
