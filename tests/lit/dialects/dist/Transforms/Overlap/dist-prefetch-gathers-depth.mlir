// RUN: titan-opt --dist-prefetch-gathers=depth=2 --dist-verify-overlap %s | FileCheck %s
// RUN: titan-opt --dist-prefetch-gathers=depth=0 %s | FileCheck %s --check-prefix=NONE

// NONE-NOT: start

dist.mesh @mesh [#dist.axis<a = 2>]
!i = !titan.tensor<i64[], <[]>>
!w = !titan.tensor<f32[layers = 5, x = 8], <[{}, {}] flat 1 {a}>>
!s = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!x = !titan.tensor<f32[x = 8], <[{}]>>
!y = !titan.tensor<f32[layers = 5, x = 8], <[{}, {}]>>

// The gathers of the first two layers precede the repeat. Even and odd iterations have different channels: each waits on
// its channel, starts the gather of the layer after the next one there, and yields the other gather in flight unchanged.
// CHECK-LABEL: func.func @forward
// CHECK: %[[W0:.*]] = dist.layer %arg1[0]
// CHECK: %[[F0:.*]] = dist.all_gather %[[W0]] over ["a"] start 0
// CHECK: %[[W1:.*]] = dist.layer %arg1[1]
// CHECK: %[[F1:.*]] = dist.all_gather %[[W1]] over ["a"] start 1
// CHECK: titan.repeat <layers = 5> table [0, 1, 0, 1, 0] iter_args(%arg0, %[[F0]], %[[F1]]) scanned(%arg1)
// CHECK-NEXT: ^bb0(%[[L:[^:]*]]: {{.*}}, %{{[^:]*}}: {{.*}}, %[[A0:[^:]*]]: {{.*}}, %[[A1:[^:]*]]: {{.*}}, %{{[^:]*}}:
// CHECK-NEXT: dist.wait 0 %[[A0]] :
// CHECK-NEXT: %[[NEXT:.*]] = dist.layer %arg1[%[[L]] + 2]
// CHECK-NEXT: %[[N:.*]] = dist.all_gather %[[NEXT]] over ["a"] start 0
// CHECK: titan.yield %{{[^,]*}}, %[[N]], %[[A1]]
// CHECK: }, {
// CHECK-NEXT: ^bb0(%[[L:[^:]*]]: {{.*}}, %{{[^:]*}}: {{.*}}, %[[A0:[^:]*]]: {{.*}}, %[[A1:[^:]*]]: {{.*}}, %{{[^:]*}}:
// CHECK-NEXT: dist.wait 1 %[[A1]] :
// CHECK-NEXT: %[[NEXT:.*]] = dist.layer %arg1[%[[L]] + 2]
// CHECK-NEXT: %[[N:.*]] = dist.all_gather %[[NEXT]] over ["a"] start 1
// CHECK: titan.yield %{{[^,]*}}, %[[A0]], %[[N]]
func.func @forward(%x: !x, %w: !w {titan.param = "w"}) -> !x {
  %y = titan.repeat <layers = 5> iter_args(%x) scanned(%w) : (!x, !w) -> !x {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }
  return %y : !x
}

// In reverse, the last two layers are gathered first, the last one on the channel of its iteration.
// CHECK-LABEL: func.func @backward
// CHECK: %[[W4:.*]] = dist.layer %arg1[4]
// CHECK: dist.all_gather %[[W4]] over ["a"] start 0
// CHECK: %[[W3:.*]] = dist.layer %arg1[3]
// CHECK: dist.all_gather %[[W3]] over ["a"] start 1
// CHECK: titan.repeat <layers = 5> reverse table [0, 1, 0, 1, 0]
// CHECK: dist.wait 0
// CHECK-NEXT: dist.layer %arg1[%{{.*}} - 2]
// CHECK: dist.wait 1
// CHECK-NEXT: dist.layer %arg1[%{{.*}} - 2]
func.func @backward(%x: !x, %w: !w {titan.param = "w"}) -> (!x, !y) {
  %y, %ys = titan.repeat <layers = 5> reverse iter_args(%x) scanned(%w) : (!x, !w) -> (!x, !y) {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m, %m : !x, !x
  }
  return %y, %ys : !x, !y
}

// Each combination of an original body and the parity of an iteration becomes a body.
// CHECK-LABEL: func.func @variants
// CHECK: titan.repeat <layers = 5> table [0, 1, 2, 1, 2] iter_args({{.*}}) scanned(%arg1, %arg2 for [2])
!v = !titan.tensor<f32[layers.x2 = 2 of layers, x = 8], <[{}, {}] flat 1 {a}>>
func.func @variants(%x: !x, %w: !w {titan.param = "w"}, %v: !v {titan.param = "v"}) -> !x {
  %y = titan.repeat <layers = 5> table [0, 0, 1, 0, 1] iter_args(%x) scanned(%w, %v for [1]) : (!x, !w, !v) -> !x {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }, {
  ^bb0(%l: !i, %c: !x, %wl: !s, %vl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    %h = dist.all_gather %vl over ["a"] : !s -> !x
    %n = titan.mul %m, %h : (!x, !x) -> !x
    titan.yield %n : !x
  }
  return %y : !x
}
