// RUN: titan-opt %s --titan-accumulate --split-input-file --verify-diagnostics | FileCheck %s

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8, head = 2]>

// A positional operation along the batch gets the first index of its chunk.
// CHECK-LABEL: func.func @train
// CHECK: titan.repeat <microbatches = 4>
// CHECK: ^bb0(%[[PART:.*]]: !titan.tensor<i64[]>
// CHECK: %[[SIZE:.*]] = titan.constant 2 : <i64[]>
// CHECK: %[[START:.*]] = titan.mul %[[PART]], %[[SIZE]]
// CHECK: titan.rotary %{{.*}} along "batch" dim "head" from %[[START]] : !titan.tensor<i64[]>
// CHECK: %[[OWN:.*]] = titan.iota : <i64[batch = 2]>
// CHECK: titan.add %[[OWN]], %{{.*}} : (!titan.tensor<i64[batch = 2]>, !titan.tensor<i64[]>)
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 4 : i64}} {
  %y = titan.mul %x, %w : (!x, !s) -> !x
  %r = titan.rotary %y along "batch" dim "head" {theta = 100.0} : !x -> !x
  %i = titan.iota : !titan.tensor<i64[batch = 8]>
  %f = titan.cast %i : !titan.tensor<i64[batch = 8]> -> !titan.tensor<f32[batch = 8]>
  %z = titan.mul %r, %f : (!x, !titan.tensor<f32[batch = 8]>) -> !x
  %sum = titan.reduce sum %z : !x -> !s
  return %sum : !s
}

// -----

!s = !titan.tensor<f32[]>
!k = !titan.tensor<i64[]>
!x = !titan.tensor<f32[batch = 8, head = 2]>

// Random numbers of a layer keep its index as a key. The chunk of a chunk gets the start in the complete tensor, and other
// dimensions that are cut stay cut. Each size has one start, at the top of the loop.
// CHECK-LABEL: func.func @train
// CHECK: titan.repeat <microbatches = 4>
// CHECK: ^bb0(%[[PART:.*]]: !titan.tensor<i64[]>
// CHECK: %[[START:.*]] = titan.mul %[[PART]]
// CHECK: titan.repeat <layers = 3>
// CHECK: ^bb0(%[[LAYER:[a-z0-9]+]]: !titan.tensor<i64[]>
// CHECK: titan.random uniform "a" keys(%[[LAYER]]) from(%[[START]]) of [#titan.dim<batch = 8>] : {{.*}} -> !titan.tensor<f32[batch = 2, head = 2]>
// CHECK: %[[SUM:.*]] = titan.add %{{.*}}, %[[START]]
// CHECK: titan.random normal "b" keys() from(%{{.*}}, %[[SUM]]) of [#titan.dim<head = 4>, #titan.dim<batch = 16>] : {{.*}} -> !titan.tensor<f32[batch = 2, head = 2]>
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}, %at: !k {titan.scalar = "step"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 4 : i64}} {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !k, %c: !x):
    %a = titan.random uniform "a" keys(%l) : (!k) -> !x
    %b = titan.random normal "b" keys() from(%at, %l) of [#titan.dim<head = 4>, #titan.dim<batch = 16>] : (!k, !k) -> !x
    %n = titan.mul %c, %a : (!x, !x) -> !x
    %m = titan.mul %n, %b : (!x, !x) -> !x
    titan.yield %m : !x
  }
  %z = titan.mul %y, %w : (!x, !s) -> !x
  %sum = titan.reduce sum %z : !x -> !s
  return %sum : !s
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>
!i = !titan.tensor<i64[rows = 8]>

// A scatter to indices along the batch would write the same elements in every microbatch.
func.func @train(%x: !x {titan.input = "x"}, %w: !titan.tensor<f32[rows = 8]> {titan.param = "w"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %at = titan.iota : !i
  // expected-error @below {{depends on the index along `batch`, so the step cannot be split into microbatches of it}}
  %put = titan.scatter %w along "batch" at %at : (!titan.tensor<f32[rows = 8]>, !i) -> !x
  %y = titan.mul %x, %put : (!x, !x) -> !x
  %sum = titan.reduce sum %y : !x -> !s
  return %sum : !s
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>

// A gather at indices along the batch would read the same elements in every microbatch.
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %y = titan.mul %x, %w : (!x, !s) -> !x
  %at = titan.constant 3 : !titan.tensor<i64[]>
  // expected-error @below {{needs the whole batch at once}}
  %one = titan.gather %y along "batch" at %at : (!x, !titan.tensor<i64[]>) -> !s
  return %one : !s
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 6]>

// Three microbatches do not divide the halves of the batch.
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 3 : i64}} {
  // expected-error @below {{gives `half` 2 elements, so the step cannot be computed in 3 microbatches of `batch`}}
  %y = titan.split %x dim "batch" : !x -> !titan.tensor<f32[half = 2, in_half = 3]>
  %z = titan.mul %y, %w : (!titan.tensor<f32[half = 2, in_half = 3]>, !s) -> !titan.tensor<f32[half = 2, in_half = 3]>
  %sum = titan.reduce sum %z : !titan.tensor<f32[half = 2, in_half = 3]> -> !s
  return %sum : !s
}
