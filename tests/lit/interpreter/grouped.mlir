// RUN: titan-interpret %s --gather | FileCheck %s

!x = !titan.tensor<f64[seq = 3, embed = 2]>
!w = !titan.tensor<f64[experts = 2, embed = 2, ffn = 2]>
!y = !titan.tensor<f64[seq = 3, ffn = 2]>
!at = !titan.tensor<i64[seq = 3]>
// Each row is multiplied by the matrix that its index selects; an index out of range gives zeros.
// CHECK:      value 0:
// CHECK-NEXT: {{\[\[}}10, 200], [3, 4], [0, 0]]
// The gradient of the table: products of rows, summed over the rows of each matrix.
// CHECK:      value 1:
// CHECK-NEXT: {{\[\[\[}}3, 3], [4, 4]], {{\[\[}}1, 1], [2, 2]]]
// The same gradient, added to a tensor.
// CHECK:      value 2:
// CHECK-NEXT: {{\[\[\[}}4, 3], [4, 5]], {{\[\[}}11, 1], [2, 102]]]
func.func @grouped(%x: !x {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>},
                   %w: !w {titan.value = array<f64: 1.0, 0.0, 0.0, 1.0, 10.0, 0.0, 0.0, 100.0>},
                   %dy: !y {titan.value = array<f64: 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>},
                   %at: !at {titan.value = array<f64: 1.0, 0.0, 7.0>}) -> (!y, !w, !w) {
  %y = titan.grouped_contract %x, %w along "experts" at %at : (!x, !w, !at) -> !y
  %dw = titan.grouped_contract %x, %dy along "experts" at %at : (!x, !y, !at) -> !w
  %sum = titan.grouped_contract %x, %dy along "experts" at %at into %w : (!x, !y, !at, !w) -> !w
  return %y, %dw, %sum : !y, !w, !w
}
