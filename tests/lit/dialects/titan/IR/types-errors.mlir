// RUN: titan-opt %s -split-input-file -verify-diagnostics

// A tensor's dimensions have distinct names.
// expected-error @+1 {{(C1) dimension "seq" occurs twice}}
func.func private @f(!titan.tensor<f32[seq = 8, seq = 8]>)

// -----

// Sizes are positive.
// expected-error @+1 {{(C2) dimension "seq" has size 0}}
func.func private @f(!titan.tensor<f32[seq = 0]>)

// -----

// A sharding has an axis list for every dimension.
// expected-error @+1 {{(C3) sharding of 1 dimensions on a tensor of 2}}
func.func private @f(!titan.tensor<f32[seq = 8, embed = 4], <[{tp}]>>)

// -----

// An axis shards one dimension.
// expected-error @+1 {{(C2) axis "tp" occurs twice in a sharding}}
func.func private @f(!titan.tensor<f32[seq = 8, embed = 4], <[{tp}, {tp}]>>)

// -----

// The first flat dimension is a dimension of the tensor.
// expected-error @+1 {{(C3) flat starts at dimension 2 of a tensor of rank 1}}
func.func private @f(!titan.tensor<f32[seq = 8], <[{}] flat 2 {shard}>>)

// -----

// The reduction of an unreduced axis is known.
// expected-error @+1 {{expected sum, max or min}}
func.func private @f(!titan.tensor<f32[seq = 8], <[{}] partial mean {shard}>>)

// -----

// The initialiser is known.
// expected-error @+1 {{unknown initialiser 'zipf'}}
func.func private @f(!titan.tensor<f32[seq = 8]> {titan.init = #titan.init<zipf, [1.0]>})

// -----

// Two intervals are the most that a shard of a dimension has.
// expected-error @+1 {{(C4) several axes of one dimension have head-tail order}}
func.func private @f(!titan.tensor<f32[seq = 16], <[{a headtail, b headtail}]>>)
