// RUN: titan-opt %s -split-input-file -verify-diagnostics

// A key is a scalar.
func.func @f(%x: !titan.tensor<i64[seq = 2]>) {
  // expected-error @+1 {{(C1) expected keys of rank 0, got '!titan.tensor<i64[seq = 2]>'}}
  %u = titan.random uniform "x" keys(%x) : (!titan.tensor<i64[seq = 2]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// Random numbers are floating-point.
func.func @f() {
  // expected-error @+1 {{(C2) expected a floating-point result, got '!titan.tensor<i64[seq = 8]>'}}
  %u = titan.random uniform "x" keys() : () -> !titan.tensor<i64[seq = 8]>
  return
}

// -----

// A chunk has a start along every dimension that is cut.
func.func @f(%at: !titan.tensor<i64[]>) {
  // expected-error @+1 {{(C3) expected a start for each of 2 dimensions that are cut, got 1}}
  %u = titan.random uniform "x" keys() from(%at) of [#titan.dim<seq = 16>, #titan.dim<batch = 4>] : (!titan.tensor<i64[]>) -> !titan.tensor<f32[batch = 2, seq = 8]>
  return
}

// -----

// A start is an index.
func.func @f(%at: !titan.tensor<f32[]>) {
  // expected-error @+1 {{(C3) the start must be an i64 of rank 0, got '!titan.tensor<f32[]>'}}
  %u = titan.random uniform "x" keys() from(%at) of [#titan.dim<seq = 16>] : (!titan.tensor<f32[]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// The sliced dimension is a dimension of the result.
func.func @f(%at: !titan.tensor<i64[]>) {
  // expected-error @+1 {{(C4) '!titan.tensor<f32[seq = 8]>' is not a chunk of a tensor with #titan.dim<batch = 16>}}
  %u = titan.random uniform "x" keys() from(%at) of [#titan.dim<batch = 16>] : (!titan.tensor<i64[]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// A chunk is no longer than the whole.
func.func @f(%at: !titan.tensor<i64[]>) {
  // expected-error @+1 {{(C4) '!titan.tensor<f32[seq = 8]>' is not a chunk of a tensor with #titan.dim<seq = 4>}}
  %u = titan.random uniform "x" keys() from(%at) of [#titan.dim<seq = 4>] : (!titan.tensor<i64[]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// A dimension is cut once.
func.func @f(%at: !titan.tensor<i64[]>) {
  // expected-error @+1 {{(C4) '!titan.tensor<f32[seq = 8]>' is not a chunk of a tensor with #titan.dim<seq = 32>, which is there twice}}
  %u = titan.random uniform "x" keys() from(%at, %at) of [#titan.dim<seq = 16>, #titan.dim<seq = 32>] : (!titan.tensor<i64[]>, !titan.tensor<i64[]>) -> !titan.tensor<f32[seq = 8]>
  return
}
