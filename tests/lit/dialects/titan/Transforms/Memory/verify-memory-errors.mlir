// RUN: titan-opt --titan-verify-memory %s -split-input-file -verify-diagnostics

// A value is overwritten before its last use.
!t = !titan.tensor<f32[a = 2]>
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 1>],
    titan.transient = [#titan.allocation<"a", !t, 0 to 3>, #titan.allocation<"x", !t, 0 to 9>, #titan.allocation<"y", !t, 0 to 9>]} {
  %a = titan.exp %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !t -> !t
  %b = titan.neg %a {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !t -> !t
  // expected-error@+1 {{reads a value whose allocation #titan.alloc_ref<transient 0> holds another}}
  %c = titan.add %a, %b {titan.result_allocs = [#titan.alloc_ref<transient 2>]} : (!t, !t) -> !t
  return %c : !t
}

// -----

// A value is read after the live range of its allocation.
!t = !titan.tensor<f32[a = 2]>
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 1>],
    titan.transient = [#titan.allocation<"a", !t, 0 to 0>, #titan.allocation<"x", !t, 0 to 9>, #titan.allocation<"y", !t, 0 to 9>]} {
  %a = titan.exp %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !t -> !t
  // expected-error@+1 {{reads from allocation 0 at event 1, after its last, 0}}
  %b = titan.neg %a {titan.result_allocs = [#titan.alloc_ref<transient 2>]} : !t -> !t
  return %b : !t
}

// -----

// An iteration argument is overwritten before its last use in the iteration.
!t = !titan.tensor<f32[a = 2]>
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 1>],
    titan.transient = [#titan.allocation<"a", !t, 0 to 9>, #titan.allocation<"x", !t, 0 to 9>]} {
  %y = titan.repeat <layers = 2> iter_args(%x) scanned() {titan.result_allocs = [#titan.alloc_ref<transient 0>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 0>]} : (!t) -> !t {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t):
    %a = titan.exp %c {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !t -> !t
    // expected-error@+1 {{reads a value whose allocation #titan.alloc_ref<transient 0> holds another}}
    %b = titan.add %a, %c {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : (!t, !t) -> !t
    titan.yield %b : !t
  }
  return %y : !t
}

// -----

// Two scanned inputs of one stack are one value; a write to their slot ends both.
!t = !titan.tensor<f32[a = 2]>
!s = !titan.tensor<f32[layers = 2, a = 2]>
func.func @train(%x: !t {titan.input = "x"}, %s: !s {titan.input = "s"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 2>, #titan.alloc_ref<transient 1>],
    titan.transient = [#titan.allocation<"a", !t, 0 to 9>, #titan.allocation<"s", !s, 0 to 9>, #titan.allocation<"x", !t, 0 to 9>]} {
  %y = titan.repeat <layers = 2> iter_args(%x) scanned(%s, %s) {titan.result_allocs = [#titan.alloc_ref<transient 0>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 0>, #titan.alloc_ref<transient 1 at[0]>,
                         #titan.alloc_ref<transient 1 at[0]>]} : (!t, !s, !s) -> !t {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %p: !t, %q: !t):
    %a = titan.add %c, %p {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : (!t, !t) -> !t
    %b = titan.add %a, %q {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : (!t, !t) -> !t
    %d = titan.exp %q {titan.result_allocs = [#titan.alloc_ref<transient 1 at[0]>]} : !t -> !t
    // expected-error@+1 {{reads a value whose allocation #titan.alloc_ref<transient 1 at[0]> holds another}}
    %e = titan.add %b, %p {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : (!t, !t) -> !t
    titan.yield %e : !t
  }
  return %y : !t
}

// -----

// A value is written before the live range of its allocation.
!t = !titan.tensor<f32[a = 2]>
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 1>],
    titan.transient = [#titan.allocation<"a", !t, 1 to 1>, #titan.allocation<"x", !t, 0 to 9>, #titan.allocation<"y", !t, 0 to 9>]} {
  // expected-error@+1 {{writes to allocation 0 at event 0, before its first, 1}}
  %a = titan.exp %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !t -> !t
  %b = titan.neg %a {titan.result_allocs = [#titan.alloc_ref<transient 2>]} : !t -> !t
  return %b : !t
}

// -----

// A result of the function is live until the end of the function.
!t = !titan.tensor<f32[a = 2]>
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}, !t {titan.output = "z"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 2>],
    titan.transient = [#titan.allocation<"y", !t, 0 to 2>, #titan.allocation<"z", !t, 1 to 1>, #titan.allocation<"x", !t, 0 to 9>]} {
  %a = titan.exp %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !t -> !t
  %b = titan.neg %x {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : !t -> !t
  // expected-error@+1 {{gives result 1 in allocation 1, whose last event is 1, not 2}}
  return {titan.argument_allocs = [#titan.alloc_ref<transient 0>, #titan.alloc_ref<transient 1>]} %a, %a : !t, !t
}

// -----

// The allocation of a result exists.
!t = !titan.tensor<f32[a = 2]>
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 0>],
    titan.transient = [#titan.allocation<"x", !t, 0 to 2>]} {
  // expected-error@+1 {{titan.result_allocs names an unknown allocation: #titan.alloc_ref<transient 1>}}
  %a = titan.exp %x {titan.result_allocs = [#titan.alloc_ref<transient 1>]} : !t -> !t
  return {titan.argument_allocs = [#titan.alloc_ref<transient 0>]} %a : !t
}

// -----

// The allocation of an argument exists; here the module has no persistent allocations.
!t = !titan.tensor<f32[a = 2]>
// expected-error@+1 {{titan.argument_allocs names an unknown allocation: #titan.alloc_ref<persistent 0>}}
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
    titan.transient = [#titan.allocation<"y", !t, 0 to 1>]} {
  return {titan.argument_allocs = [#titan.alloc_ref<transient 0>]} %x : !t
}

// -----

// The destination of a returned value exists.
!t = !titan.tensor<f32[a = 2]>
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 0>],
    titan.transient = [#titan.allocation<"x", !t, 0 to 1>]} {
  // expected-error@+1 {{titan.argument_allocs names an unknown allocation: #titan.alloc_ref<transient -1>}}
  return {titan.argument_allocs = [#titan.alloc_ref<transient -1>]} %x : !t
}

// -----

// A scratch allocation exists.
!t = !titan.tensor<f32[a = 2]>
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 0>],
    titan.transient = [#titan.allocation<"x", !t, 0 to 2>, #titan.allocation<"y", !t, 0 to 2>]} {
  // expected-error@+1 {{titan.scratch names an unknown allocation: #titan.alloc_ref<transient 2>}}
  %a = titan.exp %x {titan.result_allocs = [#titan.alloc_ref<transient 1>], titan.scratch = [#titan.alloc_ref<transient 2>]} : !t -> !t
  return {titan.argument_allocs = [#titan.alloc_ref<transient 1>]} %a : !t
}

// -----

// All allocations of a bucket have the same number of slots.
!a = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}] flat 1 {shard}>>
!b = !titan.tensor<f32[layers = 2, seq = 8], <[{}, {}] flat 1 {shard}>>
// expected-error@+1 {{allocations "a" and "b" are in bucket "layers" but differ in their slots, element types or memory}}
module attributes {titan.persistent = [#titan.allocation<"a", !a, 0 to 0 in "layers">, #titan.allocation<"b", !b, 0 to 0 in "layers">]} {
}

// -----

// Host and device share no bucket.
!a = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}] flat 1 {shard}>>
// expected-error@+1 {{allocations "a" and "b" are in bucket "layers" but differ in their slots, element types or memory}}
module attributes {titan.persistent = [#titan.allocation<"a", !a, 0 to 0 in "layers">, #titan.allocation<"b", !a, 0 to 0 in "layers" on "host">]} {
}

// -----

// An allocation is in memory of the device or of the host; there is no third memory.
// expected-error@+1 {{allocation "a" is on "disk", which is not a memory; the only one is "host"}}
module attributes {titan.persistent = [#titan.allocation<"a", !titan.tensor<f32[x = 8]>, 0 to 0 on "disk">]} {
}

// -----

// Only a flat stack has slots.
!a = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}] flat 0 {shard}>>
// expected-error@+1 {{allocation "a" is in bucket "layers" but is not a stack of flat chunks}}
module attributes {titan.persistent = [#titan.allocation<"a", !a, 0 to 0 in "layers">]} {
}

// -----

// A tensor that is stored block by block cannot be read as one range.
!a = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}] flat 1 {shard}>>
!sum = !titan.tensor<f32[], <[] partial sum {shard}>>
module attributes {titan.persistent = [#titan.allocation<"a", !a, 0 to 0 in "layers">]} {
  dist.mesh @mesh [#dist.axis<shard = 2>]
  func.func @train(%a: !a {titan.param = "a"}) -> (!sum {titan.output = "y"}) attributes {
      titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
      titan.transient = [#titan.allocation<"y", !sum, 0 to 9>]} {
    // expected-error@+1 {{reads the whole of operand 0, which is stored by block}}
    %y = titan.reduce sum %a {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !a -> !sum
    return %y : !sum
  }
}

// -----

// A tensor that is stored block by block cannot be written as one range, either.
!a = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}] flat 1 {shard}>>
!whole = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}]>>
module attributes {titan.persistent = [#titan.allocation<"a", !a, 0 to 0 in "layers">]} {
  dist.mesh @mesh [#dist.axis<shard = 2>]
  func.func @train(%w: !whole {titan.input = "w"}, %a: !a {titan.param = "a"}) -> (!a {titan.updates = 1 : i64})
      attributes {titan.program = "train",
      titan.argument_allocs = [#titan.alloc_ref<transient 0>, #titan.alloc_ref<persistent 0>],
      titan.transient = [#titan.allocation<"w", !whole, 0 to 9>]} {
    // expected-error@+1 {{writes the whole of what is stored by block}}
    %y = dist.local_slice %w over ["shard"] {titan.result_allocs = [#titan.alloc_ref<persistent 0>]} : !whole -> !a
    return {titan.argument_allocs = [#titan.alloc_ref<persistent 0>]} %y : !a
  }
}

// -----

// The first stage of a gather in two stages reads one range.
!a = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}] flat 1 {a, b}>>
!half = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}] flat 1 {a}>>
module attributes {titan.persistent = [#titan.allocation<"a", !a, 0 to 0 in "layers">]} {
  dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]
  func.func @train(%a: !a {titan.param = "a"}) -> (!half {titan.output = "y"}) attributes {
      titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<persistent 0>],
      titan.transient = [#titan.allocation<"y", !half, 0 to 9>]} {
    // expected-error@+1 {{reads the whole of operand 0, which is stored by block}}
    %y = dist.all_gather %a over ["b"] {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !a -> !half
    return {titan.argument_allocs = [#titan.alloc_ref<transient 0>]} %y : !half
  }
}

// -----

// A function without a plan is refused.
!t = !titan.tensor<f32[a = 2]>
// expected-error@+1 {{has no list of tensor allocations as titan.transient}}
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {titan.program = "train"} {
  return %x : !t
}

// -----

// A slot needs an enclosing repeat.
!t = !titan.tensor<f32[a = 2]>
func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 0>], titan.transient = [#titan.allocation<"x", !t, 0 to 9>]} {
  // expected-error@+1 {{titan.result_allocs names an unknown allocation: #titan.alloc_ref<transient 0 at[0]>}}
  %a = titan.exp %x {titan.result_allocs = [#titan.alloc_ref<transient 0 at[0]>]} : !t -> !t
  return %a : !t
}

// -----

// A stack may replace a scanned input slot by slot, unless other iterations read the input.
!t = !titan.tensor<f32[a = 2]>
!s = !titan.tensor<f32[layers = 2, a = 2]>
func.func @train(%x: !t {titan.input = "x"}, %s: !s {titan.input = "s"}) -> (!t {titan.output = "y"}, !s {titan.output = "next"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 0>, #titan.alloc_ref<transient 1>],
    titan.transient = [#titan.allocation<"x", !t, 0 to 9>, #titan.allocation<"s", !s, 0 to 9>]} {
  // expected-error@+1 {{overwrites slots of scanned input 0 that other iterations read}}
  %y, %next = titan.repeat <layers = 2> iter_args(%x) scanned(%s) {titan.result_allocs = [#titan.alloc_ref<transient 0>, #titan.alloc_ref<transient 1>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 0>, #titan.alloc_ref<transient 1 at[0]>]} : (!t, !s) -> (!t, !s) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %p: !t):
    %sum = titan.reduce sum %s {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !s -> !t
    %n = titan.exp %p {titan.result_allocs = [#titan.alloc_ref<transient 1 at[0]>]} : !t -> !t
    titan.yield %sum, %n : !t, !t
  }
  return %y, %next : !t, !s
}

// -----

// A body copies its arguments into stacks first, so the old slot of such a stack is lost.
!t = !titan.tensor<f32[a = 2]>
!s = !titan.tensor<f32[layers = 2, a = 2]>
func.func @train(%x: !t {titan.input = "x"}, %r: !s {titan.input = "r"}, %s: !s {titan.input = "s"}) -> (!t {titan.output = "y"}, !s {titan.output = "next"}) attributes {
    titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 0>, #titan.alloc_ref<transient 1>, #titan.alloc_ref<transient 2>],
    titan.transient = [#titan.allocation<"x", !t, 0 to 9>, #titan.allocation<"r", !s, 0 to 9>, #titan.allocation<"s", !s, 0 to 9>]} {
  // expected-error@+1 {{copies an argument over the slot of scanned input 1 before the body reads it}}
  %y, %next = titan.repeat <layers = 2> iter_args(%x) scanned(%r, %s) {titan.result_allocs = [#titan.alloc_ref<transient 0>, #titan.alloc_ref<transient 2>],
      titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient 0>, #titan.alloc_ref<transient 1 at[0]>, #titan.alloc_ref<transient 2 at[0]>]} : (!t, !s, !s) -> (!t, !s) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %p: !t, %q: !t):
    %n = titan.exp %q {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : !t -> !t
    titan.yield %n, %p : !t, !t
  }
  return %y, %next : !t, !s
}
