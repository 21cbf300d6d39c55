// RUN: titan-opt %s -split-input-file -verify-diagnostics

// `top_k`: the chosen elements have a new dimension.
func.func @f(%x: !titan.tensor<f32[seq = 8, experts = 4]>) {
  // expected-error @+1 {{(C1) the results have dimension #titan.dim<experts = 2> in place of #titan.dim<experts = 4>}}
  %v, %i = titan.top_k %x along "experts" : !titan.tensor<f32[seq = 8, experts = 4]> -> !titan.tensor<f32[seq = 8, experts = 2]>, !titan.tensor<i64[seq = 8, experts = 2]>
  return
}

// -----

// The new dimension has the index of the original one.
func.func @f(%x: !titan.tensor<f32[experts = 4, seq = 8]>) {
  // expected-error @+1 {{(C1) the results have dimension #titan.dim<seq = 8> in place of #titan.dim<experts = 4>}}
  %v, %i = titan.top_k %x along "experts" : !titan.tensor<f32[experts = 4, seq = 8]> -> !titan.tensor<f32[seq = 8, chosen = 2]>, !titan.tensor<i64[seq = 8, chosen = 2]>
  return
}

// -----

// At most all elements are chosen.
func.func @f(%x: !titan.tensor<f32[experts = 4]>) {
  // expected-error @+1 {{(C2) chooses 5 of 4}}
  %v, %i = titan.top_k %x along "experts" : !titan.tensor<f32[experts = 4]> -> !titan.tensor<f32[chosen = 5]>, !titan.tensor<i64[chosen = 5]>
  return
}

// -----

// Indices are integers.
func.func @f(%x: !titan.tensor<f32[experts = 4]>) {
  // expected-error @+1 {{(C3) expected values of 'f32' and indices of i64}}
  %v, %i = titan.top_k %x along "experts" : !titan.tensor<f32[experts = 4]> -> !titan.tensor<f32[chosen = 2]>, !titan.tensor<f32[chosen = 2]>
  return
}

// -----

// The summed dimension exists.
func.func @f(%x: !titan.tensor<f32[seq = 4]>) {
  // expected-error @+1 {{(C1) expected equal types with dimension "layers"}}
  %s = titan.cumulative_sum %x along "layers" : !titan.tensor<f32[seq = 4]> -> !titan.tensor<f32[seq = 4]>
  return
}

// -----

// Booleans are not summed.
func.func @f(%x: !titan.tensor<i1[seq = 4]>) {
  // expected-error @+1 {{(C2) sums numbers, not i1}}
  %s = titan.cumulative_sum %x along "seq" : !titan.tensor<i1[seq = 4]> -> !titan.tensor<i1[seq = 4]>
  return
}

// -----

// Counted elements are indices.
func.func @f(%x: !titan.tensor<f32[seq = 4]>) {
  // expected-error @+1 {{(C1) expected equal types of i64}}
  %c = titan.cumulative_count %x along "experts" size 2 over ["seq"] : !titan.tensor<f32[seq = 4]> -> !titan.tensor<f32[seq = 4]>
  return
}

// -----

// The counted dimensions exist.
func.func @f(%x: !titan.tensor<i64[seq = 4]>) {
  // expected-error @+1 {{(C2) expected each counted dimension once in the operand}}
  %c = titan.cumulative_count %x along "experts" size 2 over ["batch"] : !titan.tensor<i64[seq = 4]> -> !titan.tensor<i64[seq = 4]>
  return
}

// -----

// Each counted dimension is listed once.
func.func @f(%x: !titan.tensor<i64[seq = 4]>) {
  // expected-error @+1 {{(C2) expected each counted dimension once in the operand}}
  %c = titan.cumulative_count %x along "experts" size 2 over ["seq", "seq"] : !titan.tensor<i64[seq = 4]> -> !titan.tensor<i64[seq = 4]>
  return
}

// -----

// At least one dimension is counted.
func.func @f(%x: !titan.tensor<i64[seq = 4]>) {
  // expected-error @+1 {{(C2) counts over no dimension}}
  %c = titan.cumulative_count %x along "experts" size 2 over [] : !titan.tensor<i64[seq = 4]> -> !titan.tensor<i64[seq = 4]>
  return
}

// -----

// An indexed dimension has elements.
func.func @f(%x: !titan.tensor<i64[seq = 4]>) {
  // expected-error @+1 {{(C3) expected a positive size, got 0}}
  %c = titan.cumulative_count %x along "experts" size 0 over ["seq"] : !titan.tensor<i64[seq = 4]> -> !titan.tensor<i64[seq = 4]>
  return
}
