// RUN: titan-opt --titan-verify-memory %s -split-input-file -verify-diagnostics

// Slots that are produced in the order in which others are read need the constraints of that order: in
// this one, of the first iteration, the last slot of `s` is still read.
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

// Below, nothing may be gained in this order.
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

// What is consumed must not be read afterwards.
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

// A body that reads another layer's slot keeps it alive.
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

// What is consumed must not be written.
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

// A buffer without slots cannot be handed over.
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
