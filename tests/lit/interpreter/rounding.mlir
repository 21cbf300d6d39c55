// RUN: titan-interpret %s | FileCheck %s --check-prefix=CHECK-ROUND
// RUN: titan-interpret %s --float64 | FileCheck %s --check-prefix=CHECK-WIDE

// Every operation rounds to its element type; --float64 makes all of them exact doubles.
// CHECK-ROUND:      value 0 = 0.3333333432674408
// CHECK-ROUND-NEXT: value 1 = 0.333984375
// CHECK-ROUND-NEXT: value 2 = 0.3333333333333333
// CHECK-WIDE:      value 0 = 0.3333333333333333
// CHECK-WIDE-NEXT: value 1 = 0.3333333333333333
// CHECK-WIDE-NEXT: value 2 = 0.3333333333333333
func.func @thirds() -> (!titan.tensor<f32[]>, !titan.tensor<bf16[]>, !titan.tensor<f64[]>) {
  %0 = titan.constant 0.33333333333333331 : !titan.tensor<f32[]>
  %1 = titan.constant 0.33333333333333331 : !titan.tensor<bf16[]>
  %2 = titan.constant 0.33333333333333331 : !titan.tensor<f64[]>
  return %0, %1, %2 : !titan.tensor<f32[]>, !titan.tensor<bf16[]>, !titan.tensor<f64[]>
}
