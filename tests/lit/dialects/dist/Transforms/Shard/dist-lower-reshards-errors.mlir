// RUN: titan-opt --dist-lower-reshards -split-input-file -verify-diagnostics %s

dist.mesh @mesh [#dist.axis<a = 2>]

// Only sums have an identity that the other ranks can hold.
func.func @maximum(%x: !titan.tensor<f32[x = 8], <[{}]>>) -> !titan.tensor<f32[x = 8], <[{}] partial max {a}>> {
  // expected-error @+1 {{only replicated values become partial sums}}
  %0 = dist.reshard %x : !titan.tensor<f32[x = 8], <[{}]>> -> !titan.tensor<f32[x = 8], <[{}] partial max {a}>>
  return %0 : !titan.tensor<f32[x = 8], <[{}] partial max {a}>>
}

// -----

dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<one = 1>]

// An axis of degree 1 shards nothing, so no sharding may name it.
func.func @one_rank(%x: !titan.tensor<f32[x = 8], <[{one, a}]>>) -> !titan.tensor<f32[x = 8], <[{one}]>> {
  // expected-error @+1 {{names the axis "one", of which the mesh has none or one rank}}
  %0 = dist.reshard %x : !titan.tensor<f32[x = 8], <[{one, a}]>> -> !titan.tensor<f32[x = 8], <[{one}]>>
  return %0 : !titan.tensor<f32[x = 8], <[{one}]>>
}
