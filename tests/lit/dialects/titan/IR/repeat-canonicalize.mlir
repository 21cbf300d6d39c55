// RUN: titan-opt --canonicalize="region-simplify=disabled" %s | FileCheck %s

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>
!x = !titan.tensor<f32[seq = 8]>

// A constant that folding creates stays in the body of its repeat or fused region.
// CHECK-LABEL: func.func @bodies
// CHECK-NOT: titan.constant
// CHECK: titan.repeat
// CHECK: ^bb0
// CHECK-NEXT: %[[FIVE:.*]] = titan.constant 5.000000e+00
// CHECK-NEXT: titan.add %{{.*}}, %[[FIVE]]
// CHECK: titan.fused
// CHECK-NEXT: %[[SEVEN:.*]] = titan.constant 7.000000e+00
// CHECK-NEXT: titan.add %{{.*}}, %[[SEVEN]]
func.func @bodies(%x: !x) -> (!x, !x) {
  %0 = titan.repeat <layers = 2> iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !i, %h: !x):
    %two = titan.constant 2.0 : !s
    %three = titan.constant 3.0 : !s
    %five = titan.add %two, %three : (!s, !s) -> !s
    %y = titan.add %h, %five : (!x, !s) -> !x
    titan.yield %y : !x
  }
  %1 = titan.fused rows ["seq"] : !x {
    %three = titan.constant 3.0 : !s
    %four = titan.constant 4.0 : !s
    %seven = titan.add %three, %four : (!s, !s) -> !s
    %y = titan.add %x, %seven : (!x, !s) -> !x
    titan.yield %y : !x
  }
  return %0, %1 : !x, !x
}
