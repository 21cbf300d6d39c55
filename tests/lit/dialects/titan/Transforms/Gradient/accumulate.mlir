// RUN: titan-opt %s --titan-accumulate --split-input-file | FileCheck %s

!s = !titan.tensor<f32[]>
!v = !titan.tensor<f32[embed = 4]>
!x = !titan.tensor<f32[batch = 8, embed = 4]>

// Values with the batch move into the loop. Their sum over the batch is an iteration argument. The
// square of the sum, as in the norm of a gradient, follows the loop.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[X:.*]]: !titan.tensor<f32[microbatches = 2, batch = 4, embed = 4]>
// CHECK: %[[LOOP:.*]] = titan.repeat <microbatches = 2> iter_args(%{{.*}}) scanned(%[[X]])
// CHECK: ^bb0(%{{.*}}: !titan.tensor<i64[]>, %[[SUM:.*]]: !titan.tensor<f32[embed = 4]>, %[[PART:.*]]: !titan.tensor<f32[batch = 4, embed = 4]>):
// CHECK: %[[Y:.*]] = titan.mul %[[PART]], %{{.*}} -> !titan.tensor<f32[batch = 4, embed = 4]>
// CHECK: %[[R:.*]] = titan.reduce sum %[[Y]]
// CHECK: %[[HALF:.*]] = titan.mul %[[R]]
// CHECK: %[[NEXT:.*]] = titan.add %[[SUM]], %[[HALF]]
// CHECK: titan.yield %[[NEXT]]
// CHECK: titan.contract %[[LOOP]], %[[LOOP]]
// CHECK-NOT: titan.accumulate
func.func @train(%x: !x {titan.input = "x"}, %w: !v {titan.param = "w"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %half = titan.constant 5.0e-01 : !s
  %y = titan.mul %x, %w : (!x, !v) -> !x
  %r = titan.reduce sum %y : !x -> !v
  %m = titan.mul %r, %half : (!v, !s) -> !v
  %n = titan.contract %m, %m : (!v, !v) -> !s
  return %n : !s
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>

// A sum over inputs is computed before the loop, so that microbatches may be divided by it.
// CHECK-LABEL: func.func @train
// CHECK: %[[WHOLE:.*]] = titan.merge %{{.*}} dim "batch"
// CHECK: %[[COUNT:.*]] = titan.reduce sum %[[WHOLE]]
// CHECK: titan.repeat <microbatches = 4>
// CHECK: titan.div %{{.*}}, %[[COUNT]]
func.func @train(%valid: !x {titan.input = "valid"}, %w: !s {titan.param = "w"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 4 : i64}} {
  %count = titan.reduce sum %valid : !x -> !s
  %y = titan.mul %valid, %w : (!x, !s) -> !x
  %z = titan.div %y, %count : (!x, !s) -> !x
  %sum = titan.reduce sum %z : !x -> !s
  return %sum : !s
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>

// Layers inside the loop: their iteration arguments are sliced, the sums of their backward
// accumulate.
// CHECK-LABEL: func.func @train
// CHECK: titan.repeat <microbatches = 2>
// CHECK: titan.repeat <layers = 3> iter_args(%{{.*}}) scanned(%{{.*}}) : (!titan.tensor<f32[batch = 4]>
// CHECK: titan.add
// CHECK: titan.yield
func.func @train(%x: !x {titan.input = "x"}, %w: !titan.tensor<f32[layers = 3]> {titan.param = "w", titan.stacked}) -> (!s, !s)
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %zero = titan.constant 0.0 : !s
  %y, %d = titan.repeat <layers = 3> iter_args(%x, %zero) scanned(%w)
      : (!x, !s, !titan.tensor<f32[layers = 3]>) -> (!x, !s) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %g: !s, %wl: !s):
    %n = titan.mul %c, %wl : (!x, !s) -> !x
    %p = titan.reduce sum %n : !x -> !s
    %h = titan.add %g, %p : (!s, !s) -> !s
    titan.yield %n, %h : !x, !s
  }
  %sum = titan.reduce sum %y : !x -> !s
  return %sum, %d : !s, !s
}

// -----

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>
!x = !titan.tensor<f32[batch = 8]>
!v = !titan.tensor<f32[embed = 4]>

// Every microbatch draws its own random numbers; values without the batch are invariant.
// CHECK-LABEL: func.func @train
// CHECK: titan.random normal "b" keys(%{{[a-z0-9]+}}) :
// CHECK: titan.repeat <microbatches = 2>
// CHECK: ^bb0(%[[AT:[^:]*]]: !titan.tensor<i64[]>
// CHECK: %[[SIZE:.*]] = titan.constant 4 : <i64[]>
// CHECK: %[[START:.*]] = titan.mul %[[AT]], %[[SIZE]]
// CHECK: titan.random uniform "a" keys(%{{[a-z0-9]+}}) from(%[[START]]) of [#titan.dim<batch = 8>] : {{.*}} -> !titan.tensor<f32[batch = 4]>
func.func @train(%x: !x {titan.input = "x"}, %seed: !i {titan.scalar = "seed"}, %w: !v {titan.param = "w"}) -> (!s, !v)
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %a = titan.random uniform "a" keys(%seed) : (!i) -> !x
  %b = titan.random normal "b" keys(%seed) : (!i) -> !v
  %y = titan.mul %x, %a : (!x, !x) -> !x
  %sum = titan.reduce sum %y : !x -> !s
  %z = titan.mul %w, %b : (!v, !v) -> !v
  return %sum, %z : !s, !v
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>
!b = !titan.tensor<f32[layers.x2 = 2 of layers]>

// Layers with running means over the batch. They stack their sums, which accumulate over the
// microbatches; a second repeat over the layers, after the loop, scans the sums.
// CHECK-LABEL: func.func @train
// CHECK: %[[LOOP:.*]]:2 = titan.repeat <microbatches = 2>
// CHECK: titan.repeat <layers = 3> table [0, 1, 0] iter_args(%{{.*}}) scanned(%{{.*}}) stacked([0]) :
// CHECK: %[[SUM:.*]] = titan.reduce sum
// CHECK-NEXT: titan.yield %{{.*}}, %[[SUM]] :
// CHECK: %[[NEXT:.*]] = titan.repeat <layers = 3> table [0, 1, 0] iter_args() scanned(%[[KEPT:.*]] for [0], %[[LOOP]]#0 for [0]) stacked([0]) :
// CHECK: ^bb0(%{{.*}}: !titan.tensor<i64[]>, %[[OLD:.*]]: !titan.tensor<f32[]>, %[[WHOLE:.*]]: !titan.tensor<f32[]>):
// CHECK: %[[LESS:.*]] = titan.mul %[[OLD]], %{{.*}}
// CHECK: %[[SQUARE:.*]] = titan.mul %[[WHOLE]], %[[WHOLE]]
// CHECK: %[[RESULT:.*]] = titan.add %[[LESS]], %[[SQUARE]]
// CHECK: titan.yield %[[RESULT]]
// CHECK: ^bb0
// CHECK-NEXT: titan.yield
// CHECK: return %{{.*}}, %[[NEXT]]
func.func @train(%x: !x {titan.input = "x"}, %kept: !b {titan.param = "kept", titan.buffer, titan.stacked = [array<i64: 0, 2>]})
    -> (!s {titan.output = "loss"}, !b {titan.updates = 1, titan.stacked = [array<i64: 0, 2>]})
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %y, %next = titan.repeat <layers = 3> table [0, 1, 0] iter_args(%x) scanned(%kept for [0]) stacked([0]) : (!x, !b) -> (!x, !b) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %old: !s):
    %d = titan.tanh %c : !x -> !x
    %half = titan.constant 5.0e-01 : !s
    %less = titan.mul %old, %half : (!s, !s) -> !s
    %sum = titan.reduce sum %d : !x -> !s
    %square = titan.mul %sum, %sum : (!s, !s) -> !s
    %new = titan.add %less, %square : (!s, !s) -> !s
    titan.yield %d, %new : !x, !s
  }, {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    %d = titan.tanh %c : !x -> !x
    titan.yield %d : !x
  }
  %loss = titan.reduce sum %y : !x -> !s
  return %loss, %next : !s, !b
}

// -----

!x = !titan.tensor<f32[batch = 8]>
!s = !titan.tensor<f32[]>

// A sum over inputs that layers need, and its operands, are computed before the loop, too.
// CHECK-LABEL: func.func @train
// CHECK: %[[WHOLE:.*]] = titan.merge %{{.*}} dim "batch"
// CHECK: %[[SQUARE:.*]] = titan.mul %[[WHOLE]], %[[WHOLE]]
// CHECK: %[[COUNT:.*]] = titan.reduce sum %[[SQUARE]]
// CHECK: titan.repeat <microbatches = 4>
// CHECK: titan.repeat <layers = 3>
// CHECK-NOT: titan.reduce
// CHECK: titan.div %{{.*}}, %[[COUNT]]
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 4}} {
  %start = titan.mul %x, %w : (!x, !s) -> !x
  %y = titan.repeat <layers = 3> iter_args(%start) scanned() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    %square = titan.mul %x, %x : (!x, !x) -> !x
    %count = titan.reduce sum %square : !x -> !s
    %d = titan.div %c, %count : (!x, !s) -> !x
    titan.yield %d : !x
  }
  %loss = titan.reduce sum %y : !x -> !s
  return %loss : !s
}

// -----

!s = !titan.tensor<f64[]>
!x = !titan.tensor<f64[batch = 8]>

// A repeat has activations and a value that all microbatches share as iteration arguments. The repeat is only in the loop, and so is the
// sum between two such repeats; the shared value leaves the loop as a mean, and its users follow the loop.
// CHECK-LABEL: func.func @train
// CHECK-NOT: titan.repeat <layers
// CHECK: %[[LOOP:.*]]:2 = titan.repeat <microbatches = 4>
// CHECK: %[[FIRST:.*]]:2 = titan.repeat <layers = 3> {{.*}}titan.tensor<f64[batch = 2]>
// CHECK: %[[BETWEEN:.*]] = titan.add %[[FIRST]]#1, %[[FIRST]]#1
// CHECK: %[[SECOND:.*]]:2 = titan.repeat <layers = 3> iter_args(%{{.*}}, %[[BETWEEN]])
// CHECK: %[[QUARTER:.*]] = titan.constant 2.500000e-01
// CHECK: titan.mul %[[SECOND]]#1, %[[QUARTER]]
// CHECK: titan.mul %[[LOOP]]#{{[01]}}, %[[LOOP]]#{{[01]}}
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}) -> (!s, !s)
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 4 : i64}} {
  %y, %v = titan.repeat <layers = 3> iter_args(%x, %w) scanned() : (!x, !s) -> (!x, !s) {
  ^bb0(%i: !titan.tensor<i64[]>, %a: !x, %b: !s):
    %c = titan.mul %a, %b : (!x, !s) -> !x
    %d = titan.add %b, %b : (!s, !s) -> !s
    titan.yield %c, %d : !x, !s
  }
  %between = titan.add %v, %v : (!s, !s) -> !s
  %z, %u = titan.repeat <layers = 3> iter_args(%y, %between) scanned() : (!x, !s) -> (!x, !s) {
  ^bb0(%i: !titan.tensor<i64[]>, %a: !x, %b: !s):
    %c = titan.mul %a, %b : (!x, !s) -> !x
    %d = titan.add %b, %b : (!s, !s) -> !s
    titan.yield %c, %d : !x, !s
  }
  %sum = titan.reduce sum %z : !x -> !s
  %square = titan.mul %u, %u : (!s, !s) -> !s
  return %sum, %square : !s, !s
}

// -----

!s = !titan.tensor<bf16[]>
!x = !titan.tensor<bf16[batch = 6]>

// The mean of a shared bf16 value is summed in f32, because a third of it is not exact in bf16.
// CHECK-LABEL: func.func @train
// CHECK: %[[LOOP:.*]]:2 = titan.repeat <microbatches = 3> iter_args(%{{.*}}) {{.*}} -> (!titan.tensor<f32[]>, !titan.tensor<bf16[]>)
// CHECK: %[[WIDE:.*]] = titan.cast %{{.*}} : <bf16[]> -> <f32[]>
// CHECK: titan.mul %[[WIDE]]
// CHECK: %[[NARROW:.*]] = titan.cast %[[LOOP]]#0 : <f32[]> -> <bf16[]>
// CHECK: titan.mul %[[NARROW]], %[[NARROW]]
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}) -> (!s, !s)
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 3 : i64}} {
  %y, %v = titan.repeat <layers = 3> iter_args(%x, %w) scanned() : (!x, !s) -> (!x, !s) {
  ^bb0(%i: !titan.tensor<i64[]>, %a: !x, %b: !s):
    %c = titan.mul %a, %b : (!x, !s) -> !x
    %d = titan.add %b, %b : (!s, !s) -> !s
    titan.yield %c, %d : !x, !s
  }
  %sum = titan.reduce sum %y : !x -> !s
  %square = titan.mul %v, %v : (!s, !s) -> !s
  return %sum, %square : !s, !s
}
