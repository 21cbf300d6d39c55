// RUN: split-file %s %t
// RUN: titan-interpret %t/right.mlir --gather | FileCheck %s --check-prefix=RIGHT
// RUN: titan-interpret %t/early.mlir --gather | FileCheck %s --check-prefix=EARLY
// RUN: titan-interpret %t/dead.mlir --gather | FileCheck %s --check-prefix=DEAD
// RUN: not titan-interpret %t/overlap.mlir 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not titan-interpret %t/small.mlir 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not titan-interpret %t/slice.mlir 2>&1 | FileCheck %s --check-prefix=SLICE

//--- right.mlir
// Values are in their planned allocations. A repeat stores its stacked output slot by slot. An elementwise
// operation reuses the memory of its operand: c becomes c w + c, and the stack contains the initial c of
// each layer.
// RIGHT: output y = 6
// RIGHT: output stack:
// RIGHT-NEXT: [1, 2]
!x = !titan.tensor<f32[]>
!stack = !titan.tensor<f32[layers = 2]>
module attributes {titan.persistent = [#titan.allocation<"w", !stack, 0 to 0>, #titan.allocation<"y", !x, 0 to 0>, #titan.allocation<"stack", !stack, 0 to 0>]} {
  func.func @train(%w: !stack {titan.param = "w", titan.value = array<f64: 1.0, 2.0>})
      -> (!x {titan.output = "y"}, !stack {titan.output = "stack"})
      attributes {titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
                  titan.transient = [#titan.allocation<"c", !x, 1 to 6>, #titan.allocation<"n", !x, 2 to 4>]} {
    %one = titan.constant 1.0 {titan.result_allocs = [#titan.alloc_ref<inline 0>]} : !x
    %y, %s = titan.repeat <layers = 2> iter_args(%one) scanned(%w)
        {titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 0>, #titan.alloc_ref<persistent 0 at [0]>],
         titan.result_allocs = [#titan.alloc_ref<transient 0>, #titan.alloc_ref<persistent 2>]} : (!x, !stack) -> (!x, !stack) {
    ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %wl: !x):
      %n = titan.mul %c, %wl {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : (!x, !x) -> !x
      %m = titan.add %n, %c {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : (!x, !x) -> !x
      titan.yield %m, %c : !x, !x
    }
    return {titan.argument_allocs = [#titan.alloc_ref<persistent 1>, #titan.alloc_ref<persistent 2>]} %y, %s : !x, !stack
  }
}

//--- early.mlir
// A live range ends too early: b overwrites a before its last use, so the sum is 2 + 2, not -1 + 2.
// EARLY: output y = 4
!x = !titan.tensor<f32[]>
module attributes {titan.persistent = [#titan.allocation<"x", !x, 0 to 0>, #titan.allocation<"y", !x, 0 to 0>]} {
  func.func @train(%x: !x {titan.param = "x", titan.value = array<f64: 1.0>}) -> (!x {titan.output = "y"})
      attributes {titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
                  titan.transient = [#titan.allocation<"a", !x, 0 to 0>, #titan.allocation<"b", !x, 1 to 2>]} {
    %a = titan.neg %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !x -> !x
    %b = titan.add %x, %x {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : (!x, !x) -> !x
    %c = titan.add %a, %b {titan.result_allocs = [#titan.alloc_ref<persistent 1>]} : (!x, !x) -> !x
    return {titan.argument_allocs = [#titan.alloc_ref<persistent 1>]} %c : !x
  }
}

//--- dead.mlir
// A read after the live range of a returns NaN.
// DEAD: output y = {{-?}}nan
!x = !titan.tensor<f32[]>
module attributes {titan.persistent = [#titan.allocation<"x", !x, 0 to 0>, #titan.allocation<"y", !x, 0 to 0>]} {
  func.func @train(%x: !x {titan.param = "x", titan.value = array<f64: 1.0>}) -> (!x {titan.output = "y"})
      attributes {titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
                  titan.transient = [#titan.allocation<"a", !x, 0 to 1>, #titan.allocation<"b", !x, 1 to 2>]} {
    %a = titan.neg %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !x -> !x
    %b = titan.add %x, %x {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : (!x, !x) -> !x
    %c = titan.add %a, %b {titan.result_allocs = [#titan.alloc_ref<persistent 1>]} : (!x, !x) -> !x
    return {titan.argument_allocs = [#titan.alloc_ref<persistent 1>]} %c : !x
  }
}

//--- overlap.mlir
// A contraction reads its operands repeatedly, so it must not overwrite them.
// OVERLAP: error: 'titan.contract' op overwrites what it reads: its result is in allocation "b", an operand in "a"
!x = !titan.tensor<f32[i = 2, j = 2]>
module attributes {titan.persistent = [#titan.allocation<"x", !x, 0 to 0>, #titan.allocation<"y", !x, 0 to 0>]} {
  func.func @train(%x: !x {titan.param = "x", titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> (!x {titan.output = "y"})
      attributes {titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
                  titan.transient = [#titan.allocation<"a", !x, 0 to 0>, #titan.allocation<"b", !x, 1 to 1>]} {
    %a = titan.neg %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !x -> !x
    %b = titan.contract %a, %a {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : (!x, !x) -> !x
    return {titan.argument_allocs = [#titan.alloc_ref<persistent 1>]} %b : !x
  }
}

//--- small.mlir
// SMALL: error: a value of '!titan.tensor<f32[i = 2]>' does not fit into allocation "a"
!x = !titan.tensor<f32[i = 2]>
module attributes {titan.persistent = [#titan.allocation<"x", !x, 0 to 0>]} {
  func.func @train(%x: !x {titan.param = "x", titan.value = array<f64: 1.0, 2.0>}) -> ()
      attributes {titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
                  titan.transient = [#titan.allocation<"a", !titan.tensor<f32[]>, 0 to 0>]} {
    %a = titan.neg %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !x -> !x
    return {titan.argument_allocs = []}
  }
}

//--- slice.mlir
// SLICE: error: the slice is not a slot of its stack
!x = !titan.tensor<f32[]>
!stack = !titan.tensor<f32[layers = 2]>
module attributes {titan.persistent = [#titan.allocation<"w", !stack, 0 to 0>]} {
  func.func @train(%w: !stack {titan.param = "w", titan.value = array<f64: 1.0, 2.0>}) -> ()
      attributes {titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
                  titan.transient = [#titan.allocation<"a", !x, 0 to 0>]} {
    titan.repeat <layers = 2> iter_args() scanned(%w)
        {titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 0>]} : (!stack) -> () {
    ^bb0(%l: !titan.tensor<i64[]>, %wl: !x):
      titan.yield
    }
    return {titan.argument_allocs = []}
  }
}
