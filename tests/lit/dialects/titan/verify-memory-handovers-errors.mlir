// RUN: titan-opt --titan-verify-memory %s -split-input-file -verify-diagnostics

// Slots that are filled in the order in which others are read need the corners of that order: in
// this one, of the first iteration, the last slot of `s` is still read.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.arguments = [#titan.place<transient 2>, #titan.place<transient 0>],
    titan.buffers = [#titan.buffer<"s", !stack, 0 to 3>, #titan.buffer<"t", !stack, 0 to 4>, #titan.buffer<"y", !row, 0 to 4>]} {
  // expected-error@+1 {{writes slots of buffer 1 where slots of buffer 0 are still to be read}}
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.handovers = [{emptied = array<i64: 0>, filled = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 2, 2, 1, 0>, below = array<i64: 3, 0>}],
      titan.places = [#titan.place<transient 2>, #titan.place<transient 1>],
      titan.arguments = [#titan.place<inline 0>, #titan.place<transient 2>, #titan.place<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    %a = titan.mul %c, %u {titan.places = [#titan.place<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.arguments = [#titan.place<transient 2>, #titan.place<transient 1>]} %y, %t : !row, !stack
}

// -----

// Below, nothing may be gained in this order.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.arguments = [#titan.place<transient 2>, #titan.place<transient 0>],
    titan.buffers = [#titan.buffer<"s", !stack, 0 to 3>, #titan.buffer<"t", !stack, 0 to 4>, #titan.buffer<"y", !row, 0 to 4>]} {
  // expected-error@+1 {{writes slots of buffer 1 where slots of buffer 0 are still to be read}}
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.handovers = [{emptied = array<i64: 0>, filled = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 3, 2, 1, 0>, below = array<i64: 3, 2, 1, 0>}],
      titan.places = [#titan.place<transient 2>, #titan.place<transient 1>],
      titan.arguments = [#titan.place<inline 0>, #titan.place<transient 2>, #titan.place<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    %a = titan.mul %c, %u {titan.places = [#titan.place<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.arguments = [#titan.place<transient 2>, #titan.place<transient 1>]} %y, %t : !row, !stack
}

// -----

// What is emptied must not be read afterwards.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.arguments = [#titan.place<transient 2>, #titan.place<transient 0>],
    titan.buffers = [#titan.buffer<"s", !stack, 0 to 4>, #titan.buffer<"t", !stack, 0 to 4>, #titan.buffer<"y", !row, 0 to 4>]} {
  // expected-error@+1 {{empties buffer 0, which lives on}}
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.handovers = [{emptied = array<i64: 0>, filled = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 3, 2, 1, 0>, below = array<i64: 3, 0>}],
      titan.places = [#titan.place<transient 2>, #titan.place<transient 1>],
      titan.arguments = [#titan.place<inline 0>, #titan.place<transient 2>, #titan.place<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    %a = titan.mul %c, %u {titan.places = [#titan.place<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.arguments = [#titan.place<transient 2>, #titan.place<transient 1>]} %y, %t : !row, !stack
}

// -----

// A body that reads another layer's slot keeps it alive.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.arguments = [#titan.place<transient 2>, #titan.place<transient 0>],
    titan.buffers = [#titan.buffer<"s", !stack, 0 to 4>, #titan.buffer<"t", !stack, 0 to 5>, #titan.buffer<"y", !row, 0 to 5>]} {
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.handovers = [{emptied = array<i64: 0>, filled = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 3, 2, 1, 0>, below = array<i64: 3, 0>}],
      titan.places = [#titan.place<transient 2>, #titan.place<transient 1>],
      titan.arguments = [#titan.place<inline 0>, #titan.place<transient 2>, #titan.place<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %c: !row, %u: !row):
    // expected-error@+1 {{uses more than a slot of buffer 0, which the repeat hands over}}
    %next = dist.layer %s[%l - 1] {titan.places = [#titan.place<inline 0>]} : !stack -> !row
    %a = titan.mul %c, %u {titan.places = [#titan.place<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.arguments = [#titan.place<transient 2>, #titan.place<transient 1>]} %y, %t : !row, !stack
}

// -----

// What is emptied must not be written.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}, !stack {titan.output = "t"}) attributes {
    titan.program = "train", titan.arguments = [#titan.place<transient 2>, #titan.place<transient 0>],
    titan.buffers = [#titan.buffer<"s", !stack, 0 to 4>, #titan.buffer<"t", !stack, 0 to 5>, #titan.buffer<"y", !row, 0 to 5>]} {
  %y, %t = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.handovers = [{emptied = array<i64: 0>, filled = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 3, 2, 1, 0>, below = array<i64: 3, 0>}],
      titan.places = [#titan.place<transient 2>, #titan.place<transient 1>],
      titan.arguments = [#titan.place<inline 0>, #titan.place<transient 2>, #titan.place<transient 0 at[0]>]} : (!row, !stack) -> (!row, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    // expected-error@+1 {{writes to buffer 0, which the repeat empties}}
    %b = titan.exp %u {titan.places = [#titan.place<transient 0 at[0]>]} : !row -> !row
    %a = titan.mul %c, %b {titan.places = [#titan.place<transient 1 at[0]>]} : (!row, !row) -> !row
    titan.yield %a, %a : !row, !row
  }
  return {titan.arguments = [#titan.place<transient 2>, #titan.place<transient 1>]} %y, %t : !row, !stack
}

// -----

// A buffer without slots cannot be handed over.
!row = !titan.tensor<f32[x = 2]>
!stack = !titan.tensor<f32[layers = 3, x = 2]>
func.func @train(%x: !row {titan.input = "x"}, %s: !stack {titan.input = "s"}) -> (!row {titan.output = "y"}) attributes {
    titan.program = "train", titan.arguments = [#titan.place<transient 1>, #titan.place<transient 0>],
    titan.buffers = [#titan.buffer<"s", !stack, 0 to 3>, #titan.buffer<"y", !row, 0 to 4>]} {
  // expected-error@+1 {{hands over buffer 1, which has not 3 equal slots}}
  %y = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%s) {
      titan.handovers = [{emptied = array<i64: 0>, filled = array<i64: 1>, slots = array<i64: 3, 3>, above = array<i64: 1, 0>, below = array<i64: 3, 0>}],
      titan.places = [#titan.place<transient 1>],
      titan.arguments = [#titan.place<inline 0>, #titan.place<transient 1>, #titan.place<transient 0 at[0]>]} : (!row, !stack) -> !row {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %u: !row):
    %a = titan.mul %c, %u {titan.places = [#titan.place<transient 1>]} : (!row, !row) -> !row
    titan.yield %a : !row
  }
  return {titan.arguments = [#titan.place<transient 1>]} %y : !row
}
