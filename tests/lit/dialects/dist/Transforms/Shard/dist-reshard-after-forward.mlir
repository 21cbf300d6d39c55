// RUN: titan-opt --dist-reshard-after-forward=policy=never --split-input-file %s | FileCheck %s
// RUN: titan-opt --dist-reshard-after-forward=policy=always --split-input-file %s | FileCheck %s --check-prefix=ALWAYS
// RUN: titan-opt --dist-reshard-after-forward --split-input-file %s | FileCheck %s --check-prefix=DEFAULT

// The default changes nothing.
// DEFAULT-LABEL: func.func @never
// DEFAULT-COUNT-4: dist.all_gather
// DEFAULT-NOT: dist.all_gather
// DEFAULT-LABEL: func.func @variants

!i = !titan.tensor<i64[], <[]>>
!w = !titan.tensor<f32[layers = 3, x = 8], <[{}, {}] flat 1 {a}>>
!s = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!n = !titan.tensor<f64[x = 8], <[{}] flat 0 {a}>>
!x = !titan.tensor<f32[x = 8], <[{}]>>
!y = !titan.tensor<f64[x = 8], <[{}]>>

// The forward repeat stacks gathered parameters, and the backward repeat scans them, also parameters that are cast before.
// CHECK-LABEL: func.func @never
// CHECK: titan.repeat <layers = 3> iter_args(%arg0, %arg1) scanned(%arg2, %arg3)
// CHECK: %[[G:.*]] = dist.all_gather %{{.*}} : {{.*}}f32
// CHECK: %[[H:.*]] = dist.all_gather %{{.*}} : {{.*}}f64
// CHECK: titan.yield %{{.*}}, %{{.*}}, %[[H]], %[[G]] :
// CHECK: titan.repeat <layers = 3> reverse iter_args(%{{.*}}, %{{.*}}) scanned(%arg2, %arg3, %{{.*}}#2, %{{.*}}#3)
// CHECK-NEXT: ^bb0(%{{.*}}, %[[C:[^:]*]]: {{.*}}, %[[D:[^:]*]]: {{.*}}, %{{.*}}, %{{.*}}, %[[HS:[^:]*]]: {{.*}}, %[[GS:[^:]*]]:
// CHECK-NEXT: titan.mul %[[D]], %[[HS]]
// CHECK-NEXT: titan.mul %[[C]], %[[GS]]
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @never(%x: !x, %y: !y, %w: !w {titan.param = "w"}, %v: !w {titan.param = "v"}) -> (!x, !y) {
  %0:2 = titan.repeat <layers = 3> iter_args(%x, %y) scanned(%w, %v) : (!x, !y, !w, !w) -> (!x, !y) {
  ^bb0(%l: !i, %c: !x, %d: !y, %wl: !s, %vl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    %n = titan.cast %vl : !s -> !n
    %h = dist.all_gather %n over ["a"] : !n -> !y
    %o = titan.mul %d, %h : (!y, !y) -> !y
    titan.yield %m, %o : !x, !y
  }
  %1:2 = titan.repeat <layers = 3> reverse iter_args(%0#0, %0#1) scanned(%w, %v) : (!x, !y, !w, !w) -> (!x, !y) {
  ^bb0(%l: !i, %c: !x, %d: !y, %wl: !s, %vl: !s):
    %n = titan.cast %vl : !s -> !n
    %h = dist.all_gather %n over ["a"] : !n -> !y
    %o = titan.mul %d, %h : (!y, !y) -> !y
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m, %o : !x, !y
  }
  return %1#0, %1#1 : !x, !y
}

// -----

!i = !titan.tensor<i64[], <[]>>
!w = !titan.tensor<f32[layers = 3, x = 8], <[{}, {}] flat 1 {a}>>
!s = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!x = !titan.tensor<f32[x = 8], <[{}]>>

// Bodies are matched by variant: a stack has slots for the iterations of its variant only.
// CHECK-LABEL: func.func @variants
// CHECK: titan.repeat <layers = 3> table [0, 1, 0] iter_args(%arg0) scanned(%arg1) stacked([0], [1])
// CHECK-SAME: <f32[layers.x2 = 2 of layers, x = 8], <[{}, {}]>>, {{.*}}<f32[layers.x1 = 1 of layers, x = 8], <[{}, {}]>>
// CHECK: titan.repeat <layers = 3> reverse table [0, 1, 0] iter_args(%{{.*}}) scanned(%arg1, %{{.*}} for [0], %{{.*}} for [1])
// CHECK-NOT: dist.all_gather
// CHECK: return
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @variants(%x: !x, %w: !w {titan.param = "w"}) -> !x {
  %0 = titan.repeat <layers = 3> table [0, 1, 0] iter_args(%x) scanned(%w) : (!x, !w) -> !x {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }, {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.add %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }
  %1 = titan.repeat <layers = 3> reverse table [0, 1, 0] iter_args(%0) scanned(%w) : (!x, !w) -> !x {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }, {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.add %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }
  return %1 : !x
}

// -----

!i = !titan.tensor<i64[], <[]>>
!s = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!x = !titan.tensor<f32[x = 8], <[{}]>>

// With `always`, no gathered value is live across a repeat: the body of the repeat and later users gather again.
// ALWAYS-LABEL: func.func @always
// ALWAYS-NEXT: %[[A:.*]] = dist.all_gather %arg1
// ALWAYS-NEXT: %[[M:.*]] = titan.mul %arg0, %[[A]]
// ALWAYS-NEXT: titan.repeat <layers = 3> iter_args(%[[M]])
// ALWAYS-NEXT: ^bb0
// ALWAYS-NEXT: %[[B:.*]] = dist.all_gather %arg1
// ALWAYS-NEXT: titan.mul %{{.*}}, %[[B]]
// ALWAYS: %[[C:.*]] = dist.all_gather %arg1
// ALWAYS-NEXT: titan.mul %{{.*}}, %[[C]]
// ALWAYS-NEXT: titan.add %{{.*}}, %[[C]]
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @always(%x: !x, %w: !s {titan.param = "w"}) -> !x {
  %g = dist.all_gather %w over ["a"] : !s -> !x
  %m = titan.mul %x, %g : (!x, !x) -> !x
  %0 = titan.repeat <layers = 3> iter_args(%m) scanned() : (!x) -> !x {
  ^bb0(%l: !i, %c: !x):
    %n = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %n : !x
  }
  %o = titan.mul %0, %g : (!x, !x) -> !x
  %p = titan.add %o, %g : (!x, !x) -> !x
  return %p : !x
}
