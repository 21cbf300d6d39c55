// RUN: titan-opt --dist-prefetch-gathers --dist-verify-overlap %s | FileCheck %s

dist.mesh @mesh [#dist.axis<a = 2>]
!i = !titan.tensor<i64[], <[]>>
!w = !titan.tensor<f32[layers = 3, x = 8], <[{}, {}] flat 1 {a}>>
!s = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!x = !titan.tensor<f32[x = 8], <[{}]>>

// The first layer is gathered before the repeat, each next one while the one before is computed.
// CHECK-LABEL: func.func @forward
// CHECK: %[[FIRST:.*]] = dist.layer %arg1[0]
// CHECK: %[[F:.*]] = dist.all_gather %[[FIRST]] over ["a"] start 0
// CHECK: %[[R:.*]]:2 = titan.repeat <layers = 3> carry(%arg0, %[[F]]) slices(%arg1)
// CHECK-NEXT: ^bb0(%[[L:[^:]*]]: {{.*}}, %[[C:[^:]*]]: {{.*}}, %[[FL:[^:]*]]: {{.*}}, %{{[^:]*}}:
// CHECK-NEXT: %[[G:.*]] = dist.wait 0 %[[FL]] :
// CHECK-NEXT: %[[NEXT:.*]] = dist.layer %arg1[%[[L]] + 1]
// CHECK-NEXT: %[[N:.*]] = dist.all_gather %[[NEXT]] over ["a"] start 0
// CHECK-NEXT: %[[M:.*]] = titan.mul %[[C]], %[[G]]
// CHECK-NEXT: titan.yield %[[M]], %[[N]]
// CHECK: return %[[R]]#0
func.func @forward(%x: !x, %w: !w {titan.param = "w"}) -> !x {
  %y = titan.repeat <layers = 3> carry(%x) slices(%w) : (!x, !w) -> !x {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }
  return %y : !x
}

// In reverse the last layer is the first. Stacks stay behind what is carried.
// CHECK-LABEL: func.func @backward
// CHECK: dist.layer %arg1[2]
// CHECK: %[[R:.*]]:3 = titan.repeat <layers = 3> reverse
// CHECK: dist.layer %arg1[%{{.*}} - 1]
// CHECK: titan.yield %[[M:.*]], %{{.*}}, %[[M]] :
// CHECK: return %[[R]]#0, %[[R]]#2
func.func @backward(%x: !x, %w: !w {titan.param = "w"}) -> (!x, !titan.tensor<f32[layers = 3, x = 8], <[{}, {}]>>) {
  %y, %ys = titan.repeat <layers = 3> reverse carry(%x) slices(%w) : (!x, !w) -> (!x, !titan.tensor<f32[layers = 3, x = 8], <[{}, {}]>>) {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m, %m : !x, !x
  }
  return %y, %ys : !x, !titan.tensor<f32[layers = 3, x = 8], <[{}, {}]>>
}

// What is not a parameter may change meanwhile; what is computed is not there yet.
// CHECK-LABEL: func.func @others
// CHECK-NOT: start
func.func @others(%x: !x, %w: !w) -> !x {
  %y = titan.repeat <layers = 3> carry(%x) slices(%w) : (!x, !w) -> !x {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }
  return %y : !x
}
