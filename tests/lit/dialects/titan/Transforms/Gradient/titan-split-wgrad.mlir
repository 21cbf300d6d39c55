// The reverse repeat of a stage is divided: the first repeat computes cotangents, the second the gradients of
// parameters from them.
// RUN: titan-opt --titan-split-wgrad %s | FileCheck %s

dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [1, 3] schedule "zb_h1" microbatches 1

!A = !titan.tensor<f32[batch = 2, in = 4]>
!As = !titan.tensor<f32[layers = 3, batch = 2, in = 4]>
!W = !titan.tensor<f32[in = 4, out = 4]>
!Ws = !titan.tensor<f32[layers = 3, in = 4, out = 4]>

// CHECK-LABEL: func.func @train(
// The first repeat computes no weight gradient. It stacks the cotangent that the second needs.
// CHECK: %[[FIRST:[0-9]+]]:2 = titan.repeat <layers = 3> reverse {{.*}} {titan.stage = 1 : i64}
// CHECK: titan.neg
// CHECK: %[[C:[0-9]+]] = titan.rename
// CHECK-NOT: wgrad
// CHECK: titan.contract %[[C]], {{.*}} {titan.grad_kind = "dgrad"}
// CHECK: titan.yield %{{[0-9]+}}, %[[C]]
// The square is a cheap function of an activation, so that the second repeat computes it itself.
// CHECK: %[[SECOND:[0-9]+]] = titan.repeat <layers = 3> reverse iter_args() scanned(%arg1, %[[FIRST]]#1) {titan.grad_kind = "wgrad", titan.stage = 1 : i64}
// CHECK: ^bb0(%{{[a-z0-9]+}}: !titan.tensor<i64[]>, %[[X:[a-z0-9]+]]: {{[^:]*}}, %[[CS:[a-z0-9]+]]:
// CHECK: %[[Q:[0-9]+]] = titan.mul %[[X]], %[[X]]
// CHECK: titan.contract %[[Q]], %[[CS]] {titan.grad_kind = "wgrad"}
// CHECK: return %[[FIRST]]#0, %[[SECOND]]
func.func @train(%w: !Ws {titan.param = "layers.w", titan.stacked}, %xs: !As {titan.param = "layers.x", titan.stacked, titan.frozen}, %dy: !A {titan.param = "dy", titan.frozen}) -> (!A {titan.output = "dx"}, !Ws {titan.gradient = "layers.w", titan.stacked}) attributes {titan.program = "train"} {
  %dx, %dw = titan.repeat <layers = 3> reverse iter_args(%dy) scanned(%w, %xs) {titan.stage = 1 : i64} : (!A, !Ws, !As) -> (!A, !Ws) {
  ^bb0(%l: !titan.tensor<i64[]>, %d: !A, %wl: !W, %xl: !A):
    %c0 = titan.neg %d : <f32[batch = 2, in = 4]> -> <f32[batch = 2, in = 4]>
    %c = titan.rename %c0 : <f32[batch = 2, in = 4]> -> <f32[batch = 2, out = 4]>
    %q = titan.mul %xl, %xl : (!A, !A) -> !A
    %dn = titan.contract %c, %wl {titan.grad_kind = "dgrad"} : (!titan.tensor<f32[batch = 2, out = 4]>, !W) -> !A
    %g = titan.contract %q, %c {titan.grad_kind = "wgrad"} : (!A, !titan.tensor<f32[batch = 2, out = 4]>) -> !W
    %n = titan.mul %dn, %q : (!A, !A) -> !A
    titan.yield %n, %g : !A, !W
  }
  return %dx, %dw : !A, !Ws
}

// A repeat without a stage stays whole.
// CHECK-LABEL: func.func @whole(
// CHECK: titan.repeat <layers = 3> reverse
// CHECK-NOT: titan.repeat
func.func @whole(%w: !Ws {titan.param = "layers.w", titan.stacked}, %dy: !A {titan.param = "dy", titan.frozen}) -> (!A {titan.output = "dx"}, !Ws {titan.gradient = "layers.w", titan.stacked}) attributes {titan.program = "train"} {
  %dx, %dw = titan.repeat <layers = 3> reverse iter_args(%dy) scanned(%w) : (!A, !Ws) -> (!A, !Ws) {
  ^bb0(%l: !titan.tensor<i64[]>, %d: !A, %wl: !W):
    %c = titan.neg %d : <f32[batch = 2, in = 4]> -> <f32[batch = 2, in = 4]>
    titan.yield %c, %wl : !A, !W
  }
  return %dx, %dw : !A, !Ws
}

!H = !titan.tensor<f32[batch = 2, out = 4]>
!D = !titan.tensor<f32[out = 4, in = 4]>
!Ds = !titan.tensor<f32[layers = 3, out = 4, in = 4]>
!N = !titan.tensor<f32[in = 4]>
!Ns = !titan.tensor<f32[layers = 3, in = 4]>

// The second repeat scans the values of least size from which it can compute the operands of its products: the factors
// of the gated product and its cotangent, not the cotangents of the factors as well. A sum over tokens is no product,
// and stays in the first repeat.
// CHECK-LABEL: func.func @gated(
// CHECK: %[[F:[0-9]+]]:6 = titan.repeat <layers = 3> reverse
// CHECK: titan.reduce sum
// CHECK: %[[S:[0-9]+]]:3 = titan.repeat <layers = 3> reverse iter_args() scanned(%arg3, %[[F]]#2, %[[F]]#3, %[[F]]#4, %[[F]]#5) {titan.grad_kind = "wgrad", titan.stage = 1 : i64}
// CHECK-COUNT-3: {titan.grad_kind = "wgrad"} :
// CHECK: return %[[F]]#0, %[[F]]#1, %[[S]]#0
func.func @gated(%g: !Ws {titan.param = "layers.g", titan.stacked}, %u: !Ws {titan.param = "layers.u", titan.stacked}, %d: !Ds {titan.param = "layers.d", titan.stacked}, %xs: !As {titan.param = "layers.x", titan.stacked, titan.frozen}, %dy: !A {titan.param = "dy", titan.frozen}) -> (!A {titan.output = "dx"}, !Ns {titan.gradient = "layers.n", titan.stacked}, !Ws {titan.gradient = "layers.g", titan.stacked}, !Ws {titan.gradient = "layers.u", titan.stacked}, !Ds {titan.gradient = "layers.d", titan.stacked}) attributes {titan.program = "train"} {
  %r:5 = titan.repeat <layers = 3> reverse iter_args(%dy) scanned(%g, %u, %d, %xs) {titan.stage = 1 : i64} : (!A, !Ws, !Ws, !Ds, !As) -> (!A, !Ns, !Ws, !Ws, !Ds) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !A, %wg: !W, %wu: !W, %wd: !D, %x: !A):
    %dn = titan.neg %c : <f32[batch = 2, in = 4]> -> <f32[batch = 2, in = 4]>
    %gate = titan.contract %x, %wg : (!A, !W) -> !H
    %up = titan.contract %x, %wu : (!A, !W) -> !H
    %both = titan.mul %gate, %up : (!H, !H) -> !H
    %db = titan.contract %c, %wd {titan.grad_kind = "dgrad"} : (!A, !D) -> !H
    %dg = titan.mul %db, %up : (!H, !H) -> !H
    %du = titan.mul %db, %gate : (!H, !H) -> !H
    %a = titan.contract %dg, %wg {titan.grad_kind = "dgrad"} : (!H, !W) -> !A
    %b = titan.contract %du, %wu {titan.grad_kind = "dgrad"} : (!H, !W) -> !A
    %s = titan.add %a, %b : (!A, !A) -> !A
    %n = titan.add %s, %dn : (!A, !A) -> !A
    %t = titan.mul %n, %x : (!A, !A) -> !A
    %gn = titan.reduce sum %t : <f32[batch = 2, in = 4]> -> <f32[in = 4]>
    %gg = titan.contract %x, %dg {titan.grad_kind = "wgrad"} : (!A, !H) -> !W
    %gu = titan.contract %x, %du {titan.grad_kind = "wgrad"} : (!A, !H) -> !W
    %gd = titan.contract %both, %n {titan.grad_kind = "wgrad"} : (!H, !A) -> !D
    titan.yield %n, %gn, %gg, %gu, %gd : !A, !N, !W, !W, !D
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !A, !Ns, !Ws, !Ws, !Ds
}
