// RUN: titan-opt %s --split-input-file --titan-add-decode="prefill=4" | FileCheck %s --implicit-check-not=@decode_batch
// RUN: titan-opt %s --split-input-file --titan-add-decode="prefill=4 slots=3" | FileCheck %s --check-prefix=BATCH

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!x = !titan.tensor<f32[batch = 1, seq = 8, head = 4]>
!w = !titan.tensor<f32[layers = 3, head = 4]>
!lse = !titan.tensor<f32[batch = 1, seq = 8]>

// @prefill and @decode compute only the rows of their chunk: values have the positions of the chunk alone. A positional
// operation gets the position, a parameter with a row per position is sliced, and the caches of a repeat
// are scanned and stacked. Keys are values here, so they have one cache.
// CHECK: func.func @logits
// CHECK-NOT: titan.uncached
// CHECK: func.func @prefill
// CHECK-SAME: !titan.tensor<i64[batch = 1, seq = 4]> {titan.input = "tokens"}
// CHECK: func.func @decode
// CHECK-SAME: (%[[T:.*]]: !titan.tensor<i64[batch = 1, seq = 1]> {titan.input = "tokens"}
// CHECK-SAME: %[[P:[^ ]*]]: !titan.tensor<i64[]> {titan.scalar = "position"}
// CHECK-SAME: %[[C:[^ ]*]]: !titan.tensor<f32[layers = 3, batch = 1, seq = 8, head = 4]> {titan.cache = "layers.k", titan.stacked}
// CHECK-SAME: titan.output = "logits"
// CHECK-SAME: titan.updates = 5 : i64
// CHECK-SAME: titan.program = "decode"
// CHECK: %[[E:.*]] = titan.gather %{{.*}} along "vocab" at %[[T]] : {{.*}} -> !titan.tensor<f32[batch = 1, seq = 1, head = 4]>
// CHECK: %[[ALL:.*]] = titan.rename %{{.*}} -> <f32[seq.whole = 8 of seq, head = 4]>
// CHECK: %[[I:.*]] = titan.iota : <i64[seq = 1]>
// CHECK: %[[AT:.*]] = titan.add %[[I]], %[[P]]
// CHECK: %[[ROW:.*]] = titan.gather %[[ALL]] along "seq.whole" at %[[AT]] : {{.*}} -> !titan.tensor<f32[seq = 1, head = 4]>
// CHECK: %[[X:.*]] = titan.add %[[E]], %[[ROW]]
// CHECK: %[[Y:.*]]:2 = titan.repeat <layers = 3> iter_args(%[[X]]) scanned(%{{.*}}, %[[C]])
// CHECK-NEXT: ^bb0(%{{.*}}, %{{.*}}, %{{.*}}, %[[SLOT:[^ ]*]]: !titan.tensor<f32[batch = 1, seq = 8, head = 4]>
// CHECK: %[[Q:.*]] = titan.rotary %{{.*}} along "seq" dim "head" from %[[P]]
// CHECK: %[[K:.*]] = titan.mul
// CHECK: %[[KS:.*]] = titan.insert_slice %[[K]] into %[[SLOT]] dim "seq" from %[[P]]
// CHECK: %[[A:.*]]:2 = titan.attention %[[Q]], %[[KS]], %[[KS]] from %[[P]] along "seq" head "head" {causal
// CHECK: titan.yield %[[A]]#0, %[[KS]]
// CHECK: return %[[Y]]#0, %[[Y]]#1
//
// With slots, each text has its own position, and rows of learned positions have the dimension of slots.
// @admit copies the caches of one text.
// BATCH: func.func @decode_batch
// BATCH-SAME: (%[[T:.*]]: !titan.tensor<i64[batch.slots = 3, seq = 1]> {titan.input = "tokens"}
// BATCH-SAME: %[[P:[^ ]*]]: !titan.tensor<i64[batch.slots = 3]> {titan.scalar = "slot_positions"}
// BATCH-SAME: %[[C:[^ ]*]]: !titan.tensor<f32[layers = 3, batch.slots = 3, seq = 8, head = 4]> {titan.cache = "slots.layers.k", titan.stacked = {iterations, segments = array<i64: 1>}}
// BATCH: %[[AT:.*]] = titan.add %{{.*}}, %[[P]] : {{.*}} -> !titan.tensor<i64[batch.slots = 3, seq = 1]>
// BATCH: titan.gather %{{.*}} along "seq.whole" at %[[AT]] : {{.*}} -> !titan.tensor<f32[batch.slots = 3, seq = 1, head = 4]>
// BATCH: titan.rotary %{{.*}} along "seq" dim "head" from %[[P]] : !titan.tensor<i64[batch.slots = 3]>
// BATCH: %[[KS:.*]] = titan.insert_slice %{{.*}} into %{{.*}} dim "seq" from %[[P]]
// BATCH: titan.attention %{{.*}}, %[[KS]], %[[KS]] from %[[P]] along "seq"
// BATCH: func.func @admit(%[[S:[^ ]*]]: !titan.tensor<i64[]> {titan.scalar = "slot"}
// BATCH-SAME: %[[ONE:[^ ]*]]: {{.*}} {titan.cache = "layers.k", titan.stacked}
// BATCH-SAME: %[[ALL:[^ ]*]]: {{.*}} {titan.cache = "slots.layers.k"
// BATCH-SAME: titan.updates = 2 : i64
// BATCH: titan.repeat <layers = 3> iter_args() scanned(%[[ONE]], %[[ALL]])
// BATCH-NEXT: ^bb0(%{{.*}}, %[[TEXT:[^ ]*]]: !titan.tensor<f32[batch = 1, seq = 8, head = 4]>, %[[TEXTS:[^ ]*]]: {{.*}}):
// BATCH-NEXT: %[[R:.*]] = titan.rename %[[TEXT]] : {{.*}} -> <f32[batch.slots = 1, seq = 8, head = 4]>
// BATCH-NEXT: titan.insert_slice %[[R]] into %[[TEXTS]] dim "batch.slots" from %[[S]]
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !t {titan.input = "tokens"}, %table: !titan.tensor<f32[vocab = 16, head = 4]> {titan.param = "table"},
                    %p: !titan.tensor<f32[seq = 8, head = 4]> {titan.param = "positions"}, %w: !w {titan.param = "layers.w", titan.stacked})
      -> (!x {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %e = titan.gather %table along "vocab" at %t : (!titan.tensor<f32[vocab = 16, head = 4]>, !t) -> !x
    %x = titan.add %e, %p : (!x, !titan.tensor<f32[seq = 8, head = 4]>) -> !x
    %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!x, !w) -> !x {
    ^bb0(%l: !titan.tensor<i64[]>, %h: !x, %wl: !titan.tensor<f32[head = 4]>):
      %q = titan.rotary %h along "seq" dim "head" {theta = 1.0e4} : !x -> !x
      %k = titan.mul %h, %wl : (!x, !titan.tensor<f32[head = 4]>) -> !x loc("k")
      %a, %lse = titan.attention %q, %k, %k along "seq" head "head" {scale = 0.5, causal} : (!x, !x, !x) -> (!x, !lse)
      titan.yield %a : !x
    }
    return %y : !x
  }
}

// -----

!x = !titan.tensor<f32[batch = 1, seq = 8, head = 4]>

// Positions without inputs: a table of the chunk's positions. The size 7 has no divisor from 2 to the limit 4, so
// there is no @prefill.
// CHECK: func.func @logits
// CHECK-NOT: func.func @prefill
// CHECK: func.func @decode
// CHECK: %[[I:.*]] = titan.iota : <i64[seq = 1]>
// CHECK: titan.add %[[I]], %{{.*}}
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !titan.tensor<i64[batch = 1, seq = 7]> {titan.input = "tokens"})
      -> (!titan.tensor<i64[batch = 1, seq = 7]> {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %i = titan.iota : !titan.tensor<i64[seq = 7]>
    %x = titan.add %t, %i : (!titan.tensor<i64[batch = 1, seq = 7]>, !titan.tensor<i64[seq = 7]>) -> !titan.tensor<i64[batch = 1, seq = 7]>
    return %x : !titan.tensor<i64[batch = 1, seq = 7]>
  }
}

// -----

!x = !titan.tensor<f32[batch = 1, seq = 8]>

// A sum along the sequence reads earlier positions, but is not a causal operation, so caches cannot serve it.
// CHECK: func.func @logits
// CHECK-SAME: titan.uncached = "model.titan:12: cumulative_sum relates positions to one another"
// CHECK-NOT: func.func @decode
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !titan.tensor<i64[batch = 1, seq = 8]> {titan.input = "tokens"}) -> (!x {titan.output = "logits"})
      attributes {titan.program = "logits"} {
    %f = titan.cast %t : !titan.tensor<i64[batch = 1, seq = 8]> -> !x
    %x = titan.cumulative_sum %f along "seq" : !x -> !x loc("model.titan":12:3)
    return %x : !x
  }
}

// -----

!x = !titan.tensor<f32[batch = 1, seq = 8, head = 4]>
!lse = !titan.tensor<f32[batch = 1, seq = 8]>

// Attention without a causal mask reads later positions.
// CHECK: func.func @logits
// CHECK-SAME: titan.uncached = "attention relates positions to one another"
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !titan.tensor<i64[batch = 1, seq = 8]> {titan.input = "tokens"}, %table: !titan.tensor<f32[vocab = 16, head = 4]> {titan.param = "table"})
      -> (!x {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %x = titan.gather %table along "vocab" at %t : (!titan.tensor<f32[vocab = 16, head = 4]>, !titan.tensor<i64[batch = 1, seq = 8]>) -> !x
    %y, %l = titan.attention %x, %x, %x along "seq" head "head" {scale = 0.5} : (!x, !x, !x) -> (!x, !lse) loc(unknown)
    return %y : !x
  }
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>

// The degree of an axis that may shard positions must divide those of every program.
// CHECK: dist.axis_rules
// CHECK: func.func @prefill
// CHECK-SAME: seq = 8
// CHECK: func.func @decode
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  dist.mesh @mesh [#dist.axis<tp = auto>]
  dist.axis_rules "tp" shards ["heads"] fallback ["seq"] stores []
  func.func @logits(%t: !t {titan.input = "tokens"}) -> (!t {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %x = titan.add %t, %t : (!t, !t) -> !t
    return %x : !t
  }
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!s = !titan.tensor<i64[batch = 1, block = 4 of seq, inner = 2]>

// A split gives each position two indices, so the result has no row per position.
// CHECK: func.func @logits
// CHECK-SAME: titan.uncached = "split relates positions to one another"
// CHECK-NOT: func.func @decode
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !t {titan.input = "tokens"}) -> (!t {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %s = titan.split %t dim "seq" : !t -> !s loc(unknown)
    %x = titan.merge %s dim "seq" : !s -> !t
    return %x : !t
  }
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!x = !titan.tensor<f32[batch = 1, seq = 8]>

// Dimensions that only positions have get the slots, through any operation that treats them row by row.
// CHECK: func.func @logits
// BATCH: titan.cast {{.*}} -> <f32[batch.slots = 3, seq = 1]>
// BATCH: titan.sin {{.*}} -> <f32[batch.slots = 3, seq = 1]>
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !t {titan.input = "tokens"}) -> (!x {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %i = titan.iota : !titan.tensor<i64[seq = 8]>
    %f = titan.cast %i : !titan.tensor<i64[seq = 8]> -> !titan.tensor<f32[seq = 8]>
    %s = titan.sin %f : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>
    %x = titan.cast %t : !t -> !x
    %y = titan.add %x, %s : (!x, !titan.tensor<f32[seq = 8]>) -> !x
    return %y : !x
  }
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>

// The index of a sample does not belong to its text, so there are no slots.
// CHECK: func.func @logits
// BATCH: func.func @decode
// BATCH-NOT: @decode_batch
// BATCH-NOT: @admit
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !t {titan.input = "tokens"}) -> (!t {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %i = titan.iota : !titan.tensor<i64[batch = 1]>
    %x = titan.add %t, %i : (!t, !titan.tensor<i64[batch = 1]>) -> !t
    return %x : !t
  }
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!r = !titan.tensor<i64[seq = 8]>

// Samples that depend on one another have no slots, either.
// CHECK: func.func @logits
// BATCH: func.func @decode
// BATCH-NOT: @decode_batch
// BATCH-NOT: @admit
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !t {titan.input = "tokens"}) -> (!t {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %s = titan.reduce sum %t : !t -> !r
    %x = titan.add %t, %s : (!t, !r) -> !t
    return %x : !t
  }
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!r = !titan.tensor<i64[seq = 8]>

// Positions as iteration arguments of a repeat cannot differ by slot, so there are no slots.
// CHECK: func.func @logits
// BATCH: func.func @decode
// BATCH-NOT: @decode_batch
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !t {titan.input = "tokens"}) -> (!t {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %i = titan.iota : !r
    %r = titan.repeat <layers = 3> iter_args(%i) scanned() : (!r) -> !r {
    ^bb0(%l: !titan.tensor<i64[]>, %h: !r):
      %d = titan.add %h, %h : (!r, !r) -> !r
      titan.yield %d : !r
    }
    %x = titan.add %t, %r : (!t, !r) -> !t
    return %x : !t
  }
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>

// The pass does not run twice on a module.
// CHECK: func.func @decode
// CHECK-NOT: func.func @prefill
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !t {titan.input = "tokens"}) -> (!t {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %x = titan.add %t, %t : (!t, !t) -> !t
    return %x : !t
  }
  func.func @decode() attributes {titan.program = "decode"} {
    return
  }
}

// -----

!t = !titan.tensor<i64[sentence = 1, place = 8]>
!x = !titan.tensor<f32[sentence = 1, place = 8, head = 4]>
!lse = !titan.tensor<f32[sentence = 1, place = 8]>

// The module names the dimensions, so chunks are along `place`, and slots replace `sentence`.
// CHECK: func.func @prefill
// CHECK-SAME: !titan.tensor<i64[sentence = 1, place = 4]> {titan.input = "tokens"}
// CHECK: func.func @decode
// CHECK-SAME: !titan.tensor<f32[sentence = 1, place = 8, head = 4]> {titan.cache
// BATCH: func.func @decode_batch
// BATCH-SAME: !titan.tensor<i64[batch.slots = 3, place = 1]> {titan.input = "tokens"}
module attributes {titan.data_dims = #titan.data_dims<samples = "sentence", positions = "place">} {
  func.func @logits(%t: !t {titan.input = "tokens"}, %table: !titan.tensor<f32[vocab = 16, head = 4]> {titan.param = "table"})
      -> (!x {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %x = titan.gather %table along "vocab" at %t : (!titan.tensor<f32[vocab = 16, head = 4]>, !t) -> !x
    %y, %lse = titan.attention %x, %x, %x along "place" head "head" {scale = 0.5, causal} : (!x, !x, !x) -> (!x, !lse)
    return %y : !x
  }
}

// -----

!t = !titan.tensor<i64[sentence = 1, place = 8]>
!x = !titan.tensor<f32[sentence = 1, place = 8, head = 4]>
!y = !titan.tensor<f32[batch = 1 of sentence, seq = 8 of place, head = 4]>
!lse = !titan.tensor<f32[batch = 1 of sentence, seq = 8 of place]>

// Chunks and slots follow samples and positions through new names, and attention has caches there.
// CHECK: func.func @decode
// CHECK-SAME: !titan.tensor<f32[batch = 1 of sentence, seq = 8 of place, head = 4]> {titan.cache
// CHECK: titan.attention {{.*}} along "seq"
// BATCH: func.func @decode_batch
// BATCH-SAME: !titan.tensor<i64[batch.slots = 3, place = 1]> {titan.input = "tokens"}
// BATCH-SAME: !titan.tensor<f32[batch.slots = 3, seq = 8 of place, head = 4]> {titan.cache
module attributes {titan.data_dims = #titan.data_dims<samples = "sentence", positions = "place">} {
  func.func @logits(%t: !t {titan.input = "tokens"}, %table: !titan.tensor<f32[vocab = 16, head = 4]> {titan.param = "table"})
      -> (!x {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %x = titan.gather %table along "vocab" at %t : (!titan.tensor<f32[vocab = 16, head = 4]>, !t) -> !x
    %r = titan.rename %x : !x -> !y
    %y, %lse = titan.attention %r, %r, %r along "seq" head "head" {scale = 0.5, causal} : (!y, !y, !y) -> (!y, !lse)
    %z = titan.rename %y : !y -> !x
    return %z : !x
  }
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!s = !titan.tensor<i64[first = 1, second = 1, seq = 8]>

// The compiler's dimension of slots cannot be split by an operation, so there are no slots.
// CHECK: func.func @logits
// BATCH: func.func @decode
// BATCH-NOT: @decode_batch
// BATCH-NOT: @admit
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%t: !t {titan.input = "tokens"}) -> (!t {titan.output = "logits"}) attributes {titan.program = "logits"} {
    %s = titan.split %t dim "batch" : !t -> !s
    %x = titan.merge %s dim "batch" : !s -> !t
    return %x : !t
  }
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>

// No name is special: a module that names no dimension of positions has no chunks of them.
// CHECK: func.func @logits
// CHECK-NOT: func.func
// BATCH: func.func @logits
// BATCH-NOT: func.func
func.func @logits(%t: !t {titan.input = "tokens"}) -> (!t {titan.output = "logits"}) attributes {titan.program = "logits"} {
  %x = titan.add %t, %t : (!t, !t) -> !t
  return %x : !t
}
