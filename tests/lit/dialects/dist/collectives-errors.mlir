// RUN: titan-opt %s -split-input-file -verify-diagnostics

// A mesh has distinct axes.
// expected-error @+1 {{(C1) axis "tp" occurs twice}}
dist.mesh @mesh [#dist.axis<tp = 2>, #dist.axis<tp = 4>]

// -----

// One degree at most is left to the launch.
// expected-error @+1 {{(C2) degree of axis "b"}}
dist.mesh @mesh [#dist.axis<a = auto>, #dist.axis<b = auto>]

// -----

dist.mesh @mesh [#dist.axis<shard = 2>]
// A map speaks of an axis of the mesh.
// expected-error @+1 {{(C1) the mesh has no axis "tp"}}
dist.map "tp" splits ["heads"] otherwise [] stores []

// -----

dist.mesh @mesh [#dist.axis<shard = 2>]
// Parameters, gradients and optimizer state can be stored.
// expected-error @+1 {{(C2) expected params, grads or optimizer}}
dist.map "shard" splits [] otherwise [] stores ["activations"]

// -----

// A reshard keeps the global value.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) operand and result differ}}
  %0 = dist.reshard %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 9]>
  return
}

// -----

// A gather keeps the global value.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{tp}]>>) {
  // expected-error @+1 {{(C1) operand and result differ}}
  %0 = dist.all_gather %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{tp}]>> -> !titan.tensor<f32[seq = 9], <[{}]>>
  return
}

// -----

// A gather removes exactly its axes.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{a, b}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.all_gather %x over ["a"] : !titan.tensor<f32[seq = 8], <[{a, b}]>> -> !titan.tensor<f32[seq = 8], <[{b}]>>
  return
}

// -----

// Only partial values are reduced.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{tp}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.all_reduce %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{tp}]>> -> !titan.tensor<f32[seq = 8], <[{}]>>
  return
}

// -----

// A reduce-scatter leaves its axes on a dimension.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{}] partial sum {tp}>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.reduce_scatter %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{}] partial sum {tp}>> -> !titan.tensor<f32[seq = 8], <[{}]>>
  return
}

// -----

// An all-to-all moves between two dimensions.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4], <[{tp}, {}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.all_to_all %x over ["tp"] : !titan.tensor<f32[seq = 8, embed = 4], <[{tp}, {}]>> -> !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>>
  return
}

// -----

// A local slice adds its axes.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{tp}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.local_slice %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{tp}]>> -> !titan.tensor<f32[seq = 8], <[{}]>>
  return
}

// -----

// A value becomes partial over the axes named.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.make_partial %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{}]>> -> !titan.tensor<f32[seq = 8], <[{}] partial sum {a}>>
  return
}
