// RUN: titan-opt --dist-prefetch-gathers --dist-verify-overlap %s | FileCheck %s

dist.mesh @mesh [#dist.axis<a = 2>]
!i = !titan.tensor<i64[], <[]>>
!w = !titan.tensor<f32[layers = 3, x = 8], <[{}, {}] flat 1 {a}>>
!s = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!x = !titan.tensor<f32[x = 8], <[{}]>>

// The first gather is before the repeat; each later one is in the previous iteration.
// CHECK-LABEL: func.func @forward
// CHECK: %[[FIRST:.*]] = dist.layer %arg1[0]
// CHECK: %[[F:.*]] = dist.all_gather %[[FIRST]] over ["a"] start 0
// CHECK: %[[R:.*]]:2 = titan.repeat <layers = 3> iter_args(%arg0, %[[F]]) scanned(%arg1)
// CHECK-NEXT: ^bb0(%[[L:[^:]*]]: {{.*}}, %[[C:[^:]*]]: {{.*}}, %[[FL:[^:]*]]: {{.*}}, %{{[^:]*}}:
// CHECK-NEXT: %[[G:.*]] = dist.wait 0 %[[FL]] :
// CHECK-NEXT: %[[NEXT:.*]] = dist.layer %arg1[%[[L]] + 1]
// CHECK-NEXT: %[[N:.*]] = dist.all_gather %[[NEXT]] over ["a"] start 0
// CHECK-NEXT: %[[M:.*]] = titan.mul %[[C]], %[[G]]
// CHECK-NEXT: titan.yield %[[M]], %[[N]]
// CHECK: return %[[R]]#0
func.func @forward(%x: !x, %w: !w {titan.param = "w"}) -> !x {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!x, !w) -> !x {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }
  return %y : !x
}

// In reverse, the first iteration is the last slot. Stacked outputs follow the iteration arguments.
// CHECK-LABEL: func.func @backward
// CHECK: dist.layer %arg1[2]
// CHECK: %[[R:.*]]:3 = titan.repeat <layers = 3> reverse
// CHECK: dist.layer %arg1[%{{.*}} - 1]
// CHECK: titan.yield %[[M:.*]], %{{.*}}, %[[M]] :
// CHECK: return %[[R]]#0, %[[R]]#2
func.func @backward(%x: !x, %w: !w {titan.param = "w"}) -> (!x, !titan.tensor<f32[layers = 3, x = 8], <[{}, {}]>>) {
  %y, %ys = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%w) : (!x, !w) -> (!x, !titan.tensor<f32[layers = 3, x = 8], <[{}, {}]>>) {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m, %m : !x, !x
  }
  return %y, %ys : !x, !titan.tensor<f32[layers = 3, x = 8], <[{}, {}]>>
}

// Only parameters are prefetched: other stacks may change in the meantime, and computed values do not exist yet.
// CHECK-LABEL: func.func @others
// CHECK-NOT: start
func.func @others(%x: !x, %w: !w) -> !x {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!x, !w) -> !x {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }
  return %y : !x
}

// With several bodies, only gathers common to all are prefetched.
// CHECK-LABEL: func.func @variants
// CHECK: dist.all_gather %{{.*}} over ["a"] start 0
// CHECK-NOT: start 1
// CHECK: titan.repeat <layers = 3> table [0, 1, 0] iter_args(%arg0, %{{.*}}) scanned(%arg1, %arg2 for [1])
// CHECK: dist.wait 0
// CHECK-NEXT: dist.layer %arg1[%{{.*}} + 1]
// CHECK-NEXT: dist.all_gather %{{.*}} over ["a"] start 0
// CHECK: }, {
// CHECK: dist.wait 0
// CHECK-NEXT: dist.layer %arg1[%{{.*}} + 1]
// CHECK-NEXT: dist.all_gather %{{.*}} over ["a"] start 0
// CHECK: dist.all_gather %{{.*}} over ["a"] :
!v = !titan.tensor<f32[layers.x1 = 1 of layers, x = 8], <[{}, {}] flat 1 {a}>>
func.func @variants(%x: !x, %w: !w {titan.param = "w"}, %v: !v {titan.param = "v"}) -> !x {
  %y = titan.repeat <layers = 3> table [0, 1, 0] iter_args(%x) scanned(%w, %v for [1]) : (!x, !w, !v) -> !x {
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

// A cast before the gather is prefetched, too; the cast value is an iteration argument until the wait.
// CHECK-LABEL: func.func @casts
// CHECK: %[[FIRST:.*]] = dist.layer %arg1[0]
// CHECK: %[[N:.*]] = titan.cast %[[FIRST]]
// CHECK: %[[F:.*]] = dist.all_gather %[[N]] over ["a"] start 0
// CHECK: titan.repeat <layers = 3> iter_args(%arg0, %[[F]], %[[N]]) scanned(%arg1)
// CHECK-NEXT: ^bb0(%{{[^:]*}}: {{.*}}, %{{[^:]*}}: {{.*}}, %[[FL:[^:]*]]: {{.*}}, %[[NL:[^:]*]]: {{.*}}, %{{[^:]*}}:
// CHECK-NEXT: %[[G:.*]] = dist.wait 0 %[[FL]] reading %[[NL]]
// CHECK-NEXT: %[[NEXT:.*]] = dist.layer %arg1
// CHECK-NEXT: %[[M:.*]] = titan.cast %[[NEXT]]
// CHECK-NEXT: %[[H:.*]] = dist.all_gather %[[M]] over ["a"] start 0
// CHECK-NEXT: titan.mul %{{.*}}, %[[G]]
// CHECK-NEXT: titan.yield %{{.*}}, %[[H]], %[[M]]
!n = !titan.tensor<bf16[x = 8], <[{}] flat 0 {a}>>
!b = !titan.tensor<bf16[x = 8], <[{}]>>
func.func @casts(%x: !b, %w: !w {titan.param = "w"}) -> !b {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!b, !w) -> !b {
  ^bb0(%l: !i, %c: !b, %wl: !s):
    %n = titan.cast %wl : !s -> !n
    %g = dist.all_gather %n over ["a"] : !n -> !b
    %m = titan.mul %c, %g : (!b, !b) -> !b
    titan.yield %m : !b
  }
  return %y : !b
}
