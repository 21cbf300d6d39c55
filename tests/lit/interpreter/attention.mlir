// RUN: titan-interpret %s --gather | FileCheck %s

// All scores are 0, so every position averages the visible values, and the sum of exponentials is
// their number: lse = ln 1, ln 2. Two query heads share one key head.
// CHECK:      value 0:
// CHECK-NEXT: {{\[\[}}[1, 2], [1, 2]], {{\[\[}}2, 4], [2, 4]]]
// CHECK:      value 1:
// CHECK-NEXT: {{\[\[}}0, 0], [0.69314718055994529, 0.69314718055994529]]
!q = !titan.tensor<f64[seq = 2, group = 2, head = 2]>
!k = !titan.tensor<f64[seq = 2, head = 2]>
func.func @attention(%q: !q {titan.value = array<f64: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>},
                     %k: !k {titan.value = array<f64: 1.0, 1.0, 1.0, 1.0>},
                     %v: !k {titan.value = array<f64: 1.0, 2.0, 3.0, 6.0>})
    -> (!q, !titan.tensor<f64[seq = 2, group = 2]>) {
  %y, %lse = titan.attention %q, %k, %v along "seq" head "head" {scale = 1.0, causal}
      : (!q, !k, !k) -> (!q, !titan.tensor<f64[seq = 2, group = 2]>)
  return %y, %lse : !q, !titan.tensor<f64[seq = 2, group = 2]>
}
