// RUN: titan-opt --titan-plan-memory --titan-verify-memory %s | FileCheck %s

!row = !titan.tensor<f32[seq = 8]>
!hidden = !titan.tensor<f32[seq = 8, embed = 4]>
!stack = !titan.tensor<f32[layers = 3, seq = 8, embed = 4]>

// Tensors of all programs are persistent allocations of the module; an update overwrites its argument.
// An output is a transient allocation that is live from its definition to the end.
// CHECK: titan.persistent = [#titan.allocation<"w", {{.*}}, 0 to 0>, #titan.allocation<"lr", {{[^#]*}}>, #titan.allocation<"ws", {{[^#]*}}>]
// CHECK-LABEL: func.func @train
// CHECK-SAME: titan.argument_allocs = [#titan.alloc_ref<persistent 0>, #titan.alloc_ref<persistent 1>]
// CHECK-SAME: titan.transient = [#titan.allocation<"loss", {{.*}}, 3 to 6>, #titan.allocation<"exp", {{.*}}, 1 to 5>]
func.func @train(%w: !hidden {titan.param = "w"}, %lr: !titan.tensor<f32[]> {titan.scalar = "lr"})
    -> (!titan.tensor<f32[]> {titan.output = "loss"}, !hidden {titan.updates = 0 : i64})
    attributes {titan.program = "train"} {
  // A constant has no memory.
  // CHECK: titan.constant {{.*}}titan.result_allocs = [#titan.alloc_ref<inline 0>]
  %half = titan.constant 0.5 : !titan.tensor<f32[]>
  // An elementwise result reuses the allocation of an operand at its last use.
  // CHECK: titan.exp {{.*}}titan.result_allocs = [#titan.alloc_ref<transient 1>]
  %a = titan.exp %w : !hidden -> !hidden
  // CHECK: titan.mul {{.*}}titan.result_allocs = [#titan.alloc_ref<transient 1>]
  %b = titan.mul %a, %half : (!hidden, !titan.tensor<f32[]>) -> !hidden
  // CHECK: titan.reduce {{.*}}titan.result_allocs = [#titan.alloc_ref<transient 0>]
  %loss = titan.reduce sum %b : !hidden -> !titan.tensor<f32[]>
  // CHECK: titan.mul {{.*}}titan.result_allocs = [#titan.alloc_ref<transient 1>]
  %step = titan.mul %b, %lr : (!hidden, !titan.tensor<f32[]>) -> !hidden
  // CHECK: titan.sub {{.*}}titan.result_allocs = [#titan.alloc_ref<persistent 0>]
  %new = titan.sub %w, %step : (!hidden, !hidden) -> !hidden
  return %loss, %new : !titan.tensor<f32[]>, !hidden
}

// An iteration argument is one allocation. A stacked value is computed in its slot. A captured value is
// live until the end of the repeat; here it reuses the allocation of the input. The allocations of both
// results, y and the stack of gradients, are live from the start of the repeat.
// CHECK-LABEL: func.func @scan
// CHECK-SAME: titan.transient = [#titan.allocation<"x", {{[^#]*}}, 0 to 1>, #titan.allocation<"bias", {{[^#]*}}, 0 to 6>, #titan.allocation<"y", {{[^#]*}}, 1 to 7>, #titan.allocation<"grad.ws", {{[^#]*}}, 1 to 7>
func.func @scan(%x: !hidden {titan.input = "x"}, %ws: !stack {titan.param = "ws", titan.stacked},
                %bias: !hidden {titan.input = "bias"})
    -> (!hidden {titan.output = "y"}, !stack {titan.gradient = "ws", titan.stacked})
    attributes {titan.program = "scan"} {
  // CHECK: titan.neg {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[CAPTURED:.*]]>]
  %captured = titan.neg %bias : !hidden -> !hidden
  // CHECK: titan.repeat
  // CHECK-SAME: titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient [[Y:.*]]>, #titan.alloc_ref<persistent [[WS:.*]] at[0]>]
  // CHECK-SAME: titan.result_allocs = [#titan.alloc_ref<transient [[Y]]>, #titan.alloc_ref<transient [[G:.*]]>]
  %y, %t = titan.repeat <layers = 3> iter_args(%x) scanned(%ws) : (!hidden, !stack) -> (!hidden, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !hidden, %w: !hidden):
    // CHECK: titan.tanh {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[G]] at[0]>]
    %h = titan.tanh %w : !hidden -> !hidden
    // CHECK: titan.add {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[T:.*]]>]
    %n = titan.add %h, %captured : (!hidden, !hidden) -> !hidden
    // CHECK: titan.add {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[Y]]>]
    %m = titan.add %c, %n : (!hidden, !hidden) -> !hidden
    titan.yield %m, %h : !hidden, !hidden
  }
  return %y, %t : !hidden, !stack
}

// Views share memory; values inside a fused region have none.
// CHECK-LABEL: func.func @views
func.func @views(%x: !hidden {titan.input = "x"}) -> (!titan.tensor<f32[seq = 8, out = 4]> {titan.output = "y"})
    attributes {titan.program = "views"} {
  // CHECK: titan.fused
  // CHECK-SAME: titan.result_allocs = [#titan.alloc_ref<transient [[Y:.*]]>]
  %y = titan.fused rows ["seq"] : !hidden {
    // CHECK-NOT: titan.result_allocs
    %s = titan.reduce sum %x : !hidden -> !row
    %d = titan.div %x, %s : (!hidden, !row) -> !hidden
    titan.yield %d : !hidden
  }
  // CHECK: titan.rename {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[Y]]>]
  %r = titan.rename %y : !hidden -> !titan.tensor<f32[seq = 8, out = 4]>
  return %r : !titan.tensor<f32[seq = 8, out = 4]>
}

// A sum that is a result, and its first term, are computed in the allocation of the result.
// CHECK-LABEL: func.func @sum
// CHECK: titan.contract {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[G:.*]]>]
// CHECK: titan.contract {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[OTHER:.*]]>]
// CHECK: titan.add {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[G]]>]
// CHECK: return {titan.argument_allocs = [#titan.alloc_ref<transient [[G]]>]}
func.func @sum(%x: !hidden {titan.input = "x"}, %y: !row {titan.input = "y"})
    -> (!titan.tensor<f32[embed = 4]> {titan.gradient = "w"}) attributes {titan.program = "sum"} {
  %a = titan.contract %x, %y : (!hidden, !row) -> !titan.tensor<f32[embed = 4]>
  %b = titan.contract %y, %x : (!row, !hidden) -> !titan.tensor<f32[embed = 4]>
  %g = titan.add %a, %b : (!titan.tensor<f32[embed = 4]>, !titan.tensor<f32[embed = 4]>) -> !titan.tensor<f32[embed = 4]>
  return %g : !titan.tensor<f32[embed = 4]>
}

// A scatter accumulates into the allocation of `into` at its last use.
// CHECK-LABEL: func.func @puts
func.func @puts(%x: !hidden {titan.input = "x"}, %u: !titan.tensor<f32[tokens = 2, embed = 4]> {titan.input = "u"},
                %t: !titan.tensor<i64[tokens = 2]> {titan.input = "t"}) -> (!hidden {titan.output = "y"})
    attributes {titan.program = "puts"} {
  // CHECK: titan.neg {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[TABLE:.*]]>]
  %a = titan.neg %x : !hidden -> !hidden
  // CHECK: titan.scatter {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[TABLE]]>]
  %y = titan.scatter %u along "seq" at %t into %a : (!titan.tensor<f32[tokens = 2, embed = 4]>, !titan.tensor<i64[tokens = 2]>, !hidden) -> !hidden
  return %y : !hidden
}

// An update is in the allocation of its argument, even if an earlier output is the same value.
// CHECK-LABEL: func.func @updates
// CHECK: return {titan.argument_allocs = [#titan.alloc_ref<transient 0>, #titan.alloc_ref<persistent 0>]}
func.func @updates(%w: !hidden {titan.param = "w"})
    -> (!hidden {titan.output = "y"}, !hidden {titan.output = "new", titan.updates = 0 : i64})
    attributes {titan.program = "updates"} {
  %new = titan.exp %w : !hidden -> !hidden
  return %new, %new : !hidden, !hidden
}

// A result that is computed in its own allocation overwrites no operand with a view that is read later.
// CHECK-LABEL: func.func @views_of_operand
// CHECK: titan.neg {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[A:.*]]>]
// CHECK: titan.rename {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[A]]>]
// CHECK-NOT: titan.exp {{.*}}titan.result_allocs = [#titan.alloc_ref<transient [[A]]>]
// CHECK: titan.exp
func.func @views_of_operand(%w: !hidden {titan.param = "w"})
    -> (!hidden {titan.output = "y"}, !titan.tensor<f32[seq = 8, out = 4]> {titan.output = "z"})
    attributes {titan.program = "views_of_operand"} {
  %a = titan.neg %w : !hidden -> !hidden
  %v = titan.rename %a : !hidden -> !titan.tensor<f32[seq = 8, out = 4]>
  %y = titan.exp %a : !hidden -> !hidden
  %z = titan.exp %v : !titan.tensor<f32[seq = 8, out = 4]> -> !titan.tensor<f32[seq = 8, out = 4]>
  return %y, %z : !hidden, !titan.tensor<f32[seq = 8, out = 4]>
}
