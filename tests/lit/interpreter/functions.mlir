// RUN: titan-interpret %s | FileCheck %s

// Functions of a scalar, with 17 digits: e, ln 2, tanh 1, the logistic function at 1, and the
// remaining arithmetic.
!number = !titan.tensor<f64[]>
// CHECK:      value 0 = 2.7182818284590451
// CHECK-NEXT: value 1 = 0.69314718055994529
// CHECK-NEXT: value 2 = 0.76159415595576485
// CHECK-NEXT: value 3 = 0.7310585786300049
// CHECK-NEXT: value 4 = 0.5
// CHECK-NEXT: value 5 = 1
// CHECK-NEXT: value 6 = 3
// CHECK-NEXT: value 7 = 3
func.func @functions() -> (!number, !number, !number, !number, !number, !number, !titan.tensor<i64[]>, !titan.tensor<i64[]>) {
  %one = titan.constant 1.0 : !number
  %two = titan.constant 2.0 : !number
  %e = titan.exp %one : !number -> !number
  %log = titan.log %two : !number -> !number
  %tanh = titan.tanh %one : !number -> !number
  %sigmoid = titan.sigmoid %one : !number -> !number
  %half = titan.div %one, %two : (!number, !number) -> !number
  %least = titan.minimum %one, %two : (!number, !number) -> !number
  %seven = titan.constant 7 : !titan.tensor<i64[]>
  %itwo = titan.constant 2 : !titan.tensor<i64[]>
  // Integers: division and conversion truncate.
  %three = titan.div %seven, %itwo : (!titan.tensor<i64[]>, !titan.tensor<i64[]>) -> !titan.tensor<i64[]>
  %pi = titan.constant 3.75 : !number
  %cut = titan.cast %pi : !number -> !titan.tensor<i64[]>
  return %e, %log, %tanh, %sigmoid, %half, %least, %three, %cut
      : !number, !number, !number, !number, !number, !number, !titan.tensor<i64[]>, !titan.tensor<i64[]>
}
