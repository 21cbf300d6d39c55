// RUN: titan-opt --titan-plan-memory --titan-verify-memory -split-input-file %s | FileCheck %s

// A repeat that consumes one stack while it produces another needs one slot more than the larger stack.
// In a reversed repeat, the produced stack is above: the last slot is consumed first. Parameters are
// persistent and do not overlap.
!row = !titan.tensor<f32[x = 4]>
!stack = !titan.tensor<f32[layers = 3, x = 4]>
// CHECK-LABEL: func.func @backward
// CHECK: titan.repeat <layers = 3> iter_args
// CHECK-NOT: titan.stack_overlaps
// CHECK: titan.repeat <layers = 3> reverse
// CHECK-SAME: titan.result_allocs = [{{.*}}, #titan.alloc_ref<transient [[G:[0-9]+]]>]
// CHECK-SAME: titan.stack_overlaps = [{above = array<i64: 3, 2, 1, 0>, below = array<i64: 3, 0>, consumed = array<i64: [[S:.*]]>, produced = array<i64: [[G]]>, slots = array<i64: 3, 3>}]
func.func @backward(%x: !row {titan.input = "x"}, %ws: !stack {titan.param = "ws", titan.stacked})
    -> (!row {titan.output = "y"}, !stack {titan.gradient = "ws", titan.stacked})
    attributes {titan.program = "train"} {
  %y, %s = titan.repeat <layers = 3> iter_args(%x) scanned(%ws) : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %w: !row):
    %a = titan.mul %c, %w : (!row, !row) -> !row
    %h = titan.tanh %a : !row -> !row
    titan.yield %h, %h : !row, !row
  }
  %z, %g = titan.repeat <layers = 3> reverse iter_args(%y) scanned(%s, %ws) : (!row, !stack, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %h: !row, %w: !row):
    %a = titan.mul %c, %h : (!row, !row) -> !row
    %b = titan.mul %a, %w : (!row, !row) -> !row
    titan.yield %b, %a : !row, !row
  }
  return %z, %g : !row, !stack
}

// -----

// A stack that is read later has no stack overlap; neither has a stack whose other slots the body reads.
!row = !titan.tensor<f32[x = 4]>
!stack = !titan.tensor<f32[layers = 3, x = 4]>
// CHECK-LABEL: func.func @kept
// CHECK-NOT: titan.stack_overlaps
func.func @kept(%x: !row {titan.input = "x"}, %r: !stack {titan.input = "r"}, %s: !stack {titan.input = "s"})
    -> (!row {titan.output = "y"}, !stack {titan.output = "t"}, !titan.tensor<f32[]> {titan.output = "n"})
    attributes {titan.program = "train"} {
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%r, %s) : (!row, !stack, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %c: !row, %u: !row, %v: !row):
    %next = dist.layer %s[%l - 1] : !stack -> !row
    %a = titan.mul %c, %u : (!row, !row) -> !row
    %b = titan.mul %a, %v : (!row, !row) -> !row
    titan.yield %b, %a : !row, !row
  }
  %n = titan.reduce sum %r : !stack -> !titan.tensor<f32[]>
  return %y, %t, %n : !row, !stack, !titan.tensor<f32[]>
}

// -----

// A stack that only some iterations read has one slot for each of these iterations.
!row = !titan.tensor<f32[x = 4]>
!some = !titan.tensor<f32[layers.x2 = 2 of layers, x = 4]>
!stack = !titan.tensor<f32[layers = 4, x = 4]>
// CHECK-LABEL: func.func @variants
// CHECK: titan.stack_overlaps = [{above = array<i64: 2, 3, 1, 0>, below = array<i64: 4, 0>, consumed = array<i64: 1>, produced = array<i64: 3>, slots = array<i64: 2, 4>}]
func.func @variants(%x: !row {titan.input = "x"}, %s: !some {titan.input = "s"})
    -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {titan.program = "train"} {
  %y, %t = titan.repeat <layers = 4> reverse table [1, 0, 0, 1] iter_args(%x) scanned(%s for [1]) : (!row, !some) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row):
    %a = titan.exp %c : !row -> !row
    titan.yield %a, %c : !row, !row
  }, {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    %a = titan.mul %c, %u : (!row, !row) -> !row
    titan.yield %a, %c : !row, !row
  }
  return %y, %t : !row, !stack
}
