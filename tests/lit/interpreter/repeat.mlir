// RUN: titan-interpret %s --gather --program forward | FileCheck %s --check-prefix=CHECK-FORWARD
// RUN: titan-interpret %s --gather --program reverse | FileCheck %s --check-prefix=CHECK-REVERSE
// RUN: titan-interpret %s --gather --program swap | FileCheck %s --check-prefix=CHECK-SWAP

!x = !titan.tensor<f64[]>
!stack = !titan.tensor<f64[layers = 3]>
// x becomes 10 x + w, for w = 1, 2, 3; the stacked output has the initial value of each layer.
// CHECK-FORWARD: value 0 = 123
// CHECK-FORWARD: value 1:
// CHECK-FORWARD-NEXT: [0, 1, 12]
func.func @forward(%w: !stack {titan.value = array<f64: 1.0, 2.0, 3.0>}) -> (!x, !stack) {
  %zero = titan.constant 0.0 : !x
  %ten = titan.constant 10.0 : !x
  %y, %seen = titan.repeat <layers = 3> iter_args(%zero) scanned(%w) : (!x, !stack) -> (!x, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %wl: !x):
    %0 = titan.mul %c, %ten : (!x, !x) -> !x
    %1 = titan.add %0, %wl : (!x, !x) -> !x
    titan.yield %1, %c : !x, !x
  }
  return %y, %seen : !x, !stack
}

// The last layer comes first; each slot still belongs to its layer.
// CHECK-REVERSE: value 0 = 321
// CHECK-REVERSE: value 1:
// CHECK-REVERSE-NEXT: [32, 3, 0]
// CHECK-REVERSE: value 2:
// CHECK-REVERSE-NEXT: [0, 1, 2]
func.func @reverse(%w: !stack {titan.value = array<f64: 1.0, 2.0, 3.0>}) -> (!x, !stack, !titan.tensor<i64[layers = 3]>) {
  %zero = titan.constant 0.0 : !x
  %ten = titan.constant 10.0 : !x
  %y, %seen, %index = titan.repeat <layers = 3> reverse iter_args(%zero) scanned(%w) : (!x, !stack) -> (!x, !stack, !titan.tensor<i64[layers = 3]>) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %wl: !x):
    %0 = titan.mul %c, %ten : (!x, !x) -> !x
    %1 = titan.add %0, %wl : (!x, !x) -> !x
    titan.yield %1, %c, %l : !x, !x, !titan.tensor<i64[]>
  }
  return %y, %seen, %index : !x, !stack, !titan.tensor<i64[layers = 3]>
}

// Iteration arguments may be exchanged; a nested repeat runs in each layer: (1, 2), (2, 5), (5, 6),
// (6, 9).
// CHECK-SWAP: value 0 = 6
// CHECK-SWAP: value 1 = 9
func.func @swap() -> (!x, !x) {
  %a = titan.constant 1.0 : !x
  %b = titan.constant 2.0 : !x
  %one = titan.constant 1.0 : !x
  %y, %z = titan.repeat <layers = 3> iter_args(%a, %b) scanned() : (!x, !x) -> (!x, !x) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %d: !x):
    %n = titan.repeat <inner = 4> iter_args(%c) scanned() : (!x) -> !x {
    ^bb0(%k: !titan.tensor<i64[]>, %e: !x):
      %0 = titan.add %e, %one : (!x, !x) -> !x
      titan.yield %0 : !x
    }
    titan.yield %d, %n : !x, !x
  }
  return %y, %z : !x, !x
}
