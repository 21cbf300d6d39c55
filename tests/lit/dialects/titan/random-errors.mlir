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
