// RUN: titan-opt --titan-sequentialize-copies %s | FileCheck %s
// RUN: titan-opt --titan-sequentialize-copies --titan-plan-memory --titan-verify-memory %s

!t = !titan.tensor<f32[x = 4]>
!y = !titan.tensor<f32[y = 4]>
!i = !titan.tensor<i64[]>

// Two parameters are swapped, so one of them is copied first; a third parameter is unchanged and needs no copy.
// CHECK-LABEL: func.func @swap
// CHECK: %[[Q:.*]] = titan.copy %arg1
// CHECK: %[[P:.*]] = titan.copy %arg0
// CHECK: return %[[Q]], %[[P]], %arg2
func.func @swap(%p: !t {titan.param = "p"}, %q: !t {titan.param = "q"}, %r: !t {titan.param = "r"})
    -> (!t {titan.updates = 0}, !t {titan.updates = 1}, !t {titan.updates = 2}) attributes {titan.program = "train"} {
  return %q, %p, %r : !t, !t, !t
}

// An output is the value before the update, read through a view, so it is copied first.
// CHECK-LABEL: func.func @shown
// CHECK: %[[NEW:.*]] = titan.neg %arg0
// CHECK: %[[VIEW:.*]] = titan.rename %arg0
// CHECK: %[[COPY:.*]] = titan.copy %[[VIEW]]
// CHECK: return %[[NEW]], %[[COPY]]
func.func @shown(%p: !t {titan.param = "p"}) -> (!t {titan.updates = 0}, !y {titan.output = "seen"})
    attributes {titan.program = "train"} {
  %0 = titan.neg %p : !t -> !t
  %1 = titan.rename %p : !t -> !y
  return %0, %1 : !t, !y
}

// In a repeat, one iteration argument becomes another one, so it is copied first.
// CHECK-LABEL: func.func @carried
// CHECK: ^bb0(%{{.*}}, %[[X:[^:]*]]: {{.*}}, %[[OLD:[^:]*]]: {{.*}}):
// CHECK: %[[NEXT:.*]] = titan.add %[[X]], %[[OLD]]
// CHECK: %[[COPY:.*]] = titan.copy %[[X]]
// CHECK: titan.yield %[[NEXT]], %[[COPY]]
func.func @carried(%p: !t {titan.param = "p"}) -> (!t {titan.output = "x"}, !t {titan.output = "old"})
    attributes {titan.program = "train"} {
  %a = titan.neg %p : !t -> !t
  %b = titan.exp %p : !t -> !t
  %0:2 = titan.repeat <layers = 3> iter_args(%a, %b) scanned() : (!t, !t) -> (!t, !t) {
  ^bb0(%l: !i, %x: !t, %old: !t):
    %1 = titan.add %x, %old : (!t, !t) -> !t
    titan.yield %1, %x : !t, !t
  }
  return %0#0, %0#1 : !t, !t
}
