// RUN: titan-interpret %s --gather | FileCheck %s

// Among equal elements the lowest index is selected first; sums run from either end.
// CHECK:      value 0:
// CHECK-NEXT: {{\[\[}}5, 5], [9, 2]]
// CHECK:      value 1:
// CHECK-NEXT: {{\[\[}}1, 3], [0, 2]]
// CHECK:      value 2:
// CHECK-NEXT: {{\[\[}}1, 6, 8, 13], [9, 10, 12, 10]]
// CHECK:      value 3:
// CHECK-NEXT: {{\[\[}}10, 6, 4, 3], [9, 1, 2, -2]]
!x = !titan.tensor<f64[seq = 2, experts = 4]>
!v = !titan.tensor<f64[seq = 2, chosen = 2]>
!i = !titan.tensor<i64[seq = 2, chosen = 2]>
func.func @order(%x: !x {titan.value = array<f64: 1.0, 5.0, 2.0, 5.0, 9.0, 1.0, 2.0, -2.0>}) -> (!v, !i, !x, !x) {
  %values, %indices = titan.top_k %x along "experts" : !x -> !v, !i
  %sums = titan.cumulative_sum %x along "experts" : !x -> !x
  %back = titan.cumulative_sum %x along "seq" {reverse} : !x -> !x
  return %values, %indices, %sums, %back : !v, !i, !x, !x
}
