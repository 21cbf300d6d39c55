// RUN: titan-opt --dist-lower-reshards -verify-diagnostics %s

dist.mesh @mesh [#dist.axis<a = 2>]

// Only sums have a value that other ranks can hold without changing the whole.
func.func @maximum(%x: !titan.tensor<f32[x = 8], <[{}]>>) -> !titan.tensor<f32[x = 8], <[{}] partial max {a}>> {
  // expected-error @+1 {{only replicated values become partial sums}}
  %0 = dist.reshard %x : !titan.tensor<f32[x = 8], <[{}]>> -> !titan.tensor<f32[x = 8], <[{}] partial max {a}>>
  return %0 : !titan.tensor<f32[x = 8], <[{}] partial max {a}>>
}
