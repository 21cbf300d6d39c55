// RUN: titan-interpret %s --gather | FileCheck %s

!a = !titan.tensor<f64[i = 2, k = 3]>
!b = !titan.tensor<f64[k = 3, j = 2]>
// CHECK:      value 0:
// CHECK-NEXT: {{\[\[}}58, 64], [139, 154]]
// CHECK:      value 1:
// CHECK-NEXT: {{\[\[}}58, 139], [64, 154]]
// CHECK:      value 2:
// CHECK-NEXT: [14, 77]
// CHECK:      value 3 = 91
// CHECK:      value 4:
// CHECK-NEXT: {{\[\[}}[1, 2, 3], [10, 20, 30]], {{\[\[}}4, 5, 6], [40, 50, 60]]]
func.func @contract(%a: !a {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>},
                    %b: !b {titan.value = array<f64: 7.0, 8.0, 9.0, 10.0, 11.0, 12.0>},
                    %v: !titan.tensor<f64[j = 2]> {titan.value = array<f64: 1.0, 10.0>})
    -> (!titan.tensor<f64[i = 2, j = 2]>, !titan.tensor<f64[j = 2, i = 2]>, !titan.tensor<f64[i = 2]>, !titan.tensor<f64[]>,
        !titan.tensor<f64[i = 2, j = 2, k = 3]>) {
  // A matrix product: sums over dimensions of both operands that the result lacks.
  %product = titan.contract %a, %b : (!a, !b) -> !titan.tensor<f64[i = 2, j = 2]>
  // The result may have any order of dimensions.
  %transposed = titan.contract %a, %b : (!a, !b) -> !titan.tensor<f64[j = 2, i = 2]>
  // A dimension of both operands and the result is a batch: one inner product per i.
  %batched = titan.contract %a, %a : (!a, !a) -> !titan.tensor<f64[i = 2]>
  // No dimension remains: the sum of all products.
  %norm = titan.contract %a, %a : (!a, !a) -> !titan.tensor<f64[]>
  // No common dimension: an outer product.
  %outer = titan.contract %a, %v : (!a, !titan.tensor<f64[j = 2]>) -> !titan.tensor<f64[i = 2, j = 2, k = 3]>
  return %product, %transposed, %batched, %norm, %outer
      : !titan.tensor<f64[i = 2, j = 2]>, !titan.tensor<f64[j = 2, i = 2]>, !titan.tensor<f64[i = 2]>, !titan.tensor<f64[]>,
        !titan.tensor<f64[i = 2, j = 2, k = 3]>
}
