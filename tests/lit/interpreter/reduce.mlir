// RUN: titan-interpret %s --gather | FileCheck %s
// Sums, maxima and minima along one dimension, and a sum along both.
!a = !titan.tensor<f64[i = 2, k = 3]>
// CHECK:      value 0:
// CHECK-NEXT: [6, -15]
// CHECK:      value 1:
// CHECK-NEXT: [1, 2, 3]
// CHECK:      value 2:
// CHECK-NEXT: [-4, -5, -6]
// CHECK:      value 3 = -9
func.func @reduce(%a: !a {titan.value = array<f64: 1.0, 2.0, 3.0, -4.0, -5.0, -6.0>})
    -> (!titan.tensor<f64[i = 2]>, !titan.tensor<f64[k = 3]>, !titan.tensor<f64[k = 3]>, !titan.tensor<f64[]>) {
  %sum = titan.reduce sum %a : !a -> !titan.tensor<f64[i = 2]>
  %max = titan.reduce max %a : !a -> !titan.tensor<f64[k = 3]>
  %min = titan.reduce min %a : !a -> !titan.tensor<f64[k = 3]>
  %all = titan.reduce sum %a : !a -> !titan.tensor<f64[]>
  return %sum, %max, %min, %all : !titan.tensor<f64[i = 2]>, !titan.tensor<f64[k = 3]>, !titan.tensor<f64[k = 3]>, !titan.tensor<f64[]>
}
