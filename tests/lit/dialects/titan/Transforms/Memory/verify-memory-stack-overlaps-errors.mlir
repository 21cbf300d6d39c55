// RUN: titan-opt --titan-verify-memory %s -split-input-file -verify-diagnostics

// The constraints are too weak: the first iteration still reads the last slot of `s`.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0>],
    titan.transient = [#titan.allocation<"s", !stack, 0 to 3>, #titan.allocation<"t", !stack, 0 to 4>, #titan.allocation<"y", !row, 0 to 4>]} {
  // expected-error@+1 {{writes slots of allocation 1 over slots of allocation 0 that are not yet read}}
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.stack_overlaps = [{consumed = array<i64: 0>, produced = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 2, 2, 1, 0>, below = array<i64: 3, 0>}],
      titan.result_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    %a = titan.mul %c, %u {titan.result_allocs = [#titan.alloc_ref<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>]} %y, %t : !row, !stack
}

// -----

// In this order, the produced stack cannot overlap from below.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0>],
    titan.transient = [#titan.allocation<"s", !stack, 0 to 3>, #titan.allocation<"t", !stack, 0 to 4>, #titan.allocation<"y", !row, 0 to 4>]} {
  // expected-error@+1 {{writes slots of allocation 1 over slots of allocation 0 that are not yet read}}
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.stack_overlaps = [{consumed = array<i64: 0>, produced = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 3, 2, 1, 0>, below = array<i64: 3, 2, 1, 0>}],
      titan.result_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    %a = titan.mul %c, %u {titan.result_allocs = [#titan.alloc_ref<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>]} %y, %t : !row, !stack
}

// -----

// A consumed stack is read after the repeat.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0>],
    titan.transient = [#titan.allocation<"s", !stack, 0 to 4>, #titan.allocation<"t", !stack, 0 to 4>, #titan.allocation<"y", !row, 0 to 4>]} {
  // expected-error@+1 {{consumes allocation 0, which is still live afterwards}}
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.stack_overlaps = [{consumed = array<i64: 0>, produced = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 3, 2, 1, 0>, below = array<i64: 3, 0>}],
      titan.result_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    %a = titan.mul %c, %u {titan.result_allocs = [#titan.alloc_ref<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>]} %y, %t : !row, !stack
}

// -----

// The body reads the slot of another iteration.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0>],
    titan.transient = [#titan.allocation<"s", !stack, 0 to 4>, #titan.allocation<"t", !stack, 0 to 5>, #titan.allocation<"y", !row, 0 to 5>]} {
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.stack_overlaps = [{consumed = array<i64: 0>, produced = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 3, 2, 1, 0>, below = array<i64: 3, 0>}],
      titan.result_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %c: !row, %u: !row):
    // expected-error@+1 {{uses more than a slot of allocation 0, which has a stack overlap}}
    %next = dist.layer %s[%l - 1] {titan.result_allocs = [#titan.alloc_ref<inline 0>]} : !stack -> !row
    %a = titan.mul %c, %u {titan.result_allocs = [#titan.alloc_ref<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>]} %y, %t : !row, !stack
}

// -----

// The repeat writes to a consumed stack.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0>],
    titan.transient = [#titan.allocation<"s", !stack, 0 to 4>, #titan.allocation<"t", !stack, 0 to 5>, #titan.allocation<"y", !row, 0 to 5>]} {
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.stack_overlaps = [{consumed = array<i64: 0>, produced = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 3, 2, 1, 0>, below = array<i64: 3, 0>}],
      titan.result_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    // expected-error@+1 {{writes to allocation 0, which the repeat consumes}}
    %b = titan.exp %u {titan.result_allocs = [#titan.alloc_ref<transient 0 at[0]>]} : !row -> !row
    %a = titan.mul %c, %b {titan.result_allocs = [#titan.alloc_ref<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>]} %y, %t : !row, !stack
}

// -----

// An allocation without slots has no stack overlap.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 1>, #titan.alloc_ref<transient 0>],
    titan.transient = [#titan.allocation<"s", !stack, 0 to 3>, #titan.allocation<"y", !row, 0 to 4>]} {
  // expected-error@+1 {{has a stack overlap with allocation 1, which does not have 3 equal slots}}
  %y = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.stack_overlaps = [{consumed = array<i64: 0>, produced = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 1, 0>, below = array<i64: 3, 0>}],
      titan.result_allocs = [#titan.alloc_ref<transient 1>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 1>, #titan.alloc_ref<transient 0 at[0]>]} : (!row, !stack) -> !row {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    %a = titan.mul %c, %u {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : (!row, !row) -> !row
    titan.yield %a : !row
  }
  return {titan.argument_allocs = [#titan.alloc_ref<transient 1>]} %y : !row
}
