// RUN: titan-interpret %s --program zero --gather | FileCheck %s
// RUN: not titan-interpret %s --program other 2>&1 | FileCheck %s --check-prefix=OTHER

// A padded argument has the initial values of the unpadded one, then zeros; results have no
// padding.
// CHECK: update w: norm {{.*}}, sum 3.5
// CHECK-NEXT: [0.5, 1, 2]
func.func @zero(%w: !titan.tensor<f64[x = 4]> {titan.param = "w", titan.value = array<f64: 0.25, 0.5, 1.0>, titan.unpadded = array<i64: 3>})
    -> (!titan.tensor<f64[x = 4]> {titan.updates = 0, titan.unpadded = array<i64: 3>}) {
  %y = titan.add %w, %w : (!titan.tensor<f64[x = 4]>, !titan.tensor<f64[x = 4]>) -> !titan.tensor<f64[x = 4]>
  return %y : !titan.tensor<f64[x = 4]>
}

// Padding of persistent values must be 0.
// OTHER: error: update w: padding must be 0, but element 3 is 1
func.func @other(%w: !titan.tensor<f64[x = 4]> {titan.param = "w", titan.value = array<f64: 0.25, 0.5, 1.0>, titan.unpadded = array<i64: 3>})
    -> (!titan.tensor<f64[x = 4]> {titan.updates = 0, titan.unpadded = array<i64: 3>}) {
  %y = titan.exp %w : <f64[x = 4]> -> <f64[x = 4]>
  return %y : !titan.tensor<f64[x = 4]>
}
