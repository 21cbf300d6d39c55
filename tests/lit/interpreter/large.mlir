// RUN: not titan-interpret %s --program large 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not titan-interpret %s --program overflow 2>&1 | FileCheck %s --check-prefix=OVERFLOW

// A value that exceeds memory is rejected, also if its size exceeds 64 bits.
// LARGE: error: '!titan.tensor<f32[a = 1099511627776]>' has more elements than the interpreter holds
func.func @large(%x: !titan.tensor<f32[a = 1099511627776]> {titan.input = "x"}) {
  return
}
// OVERFLOW: error: '!titan.tensor<f32[a = 4294967296, b = 4294967296]>' has more elements than the interpreter holds
func.func @overflow(%x: !titan.tensor<f32[a = 4294967296, b = 4294967296]> {titan.input = "x"}) {
  return
}
