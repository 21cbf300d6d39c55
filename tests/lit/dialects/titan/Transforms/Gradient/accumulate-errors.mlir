// RUN: titan-opt %s --titan-accumulate --split-input-file --verify-diagnostics

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>

// Microbatches have equal sizes.
// expected-error @below {{cannot slice `batch` of argument 0 into 3 equal microbatches}}
func.func @train(%x: !x {titan.input = "x"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 3 : i64}} {
  %sum = titan.reduce sum %x : !x -> !s
  return %sum : !s
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>

// Every sample is compared with a mean over the batch, which needs all microbatches first.
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %y = titan.mul %x, %w : (!x, !s) -> !x
  %sum = titan.reduce sum %y : !x -> !s
  // expected-error @below {{needs the whole batch at once, so the step cannot be split into microbatches of `batch`}}
  %z = titan.sub %y, %sum : (!x, !s) -> !x
  %r = titan.reduce sum %z : !x -> !s
  return %r : !s
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>

// The maximum of all samples is not a sum.
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %y = titan.mul %x, %w : (!x, !s) -> !x
  // expected-error @below {{needs the whole batch at once}}
  %max = titan.reduce max %y : !x -> !s
  return %max : !s
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>

// A normalisation over the batch between layers needs all microbatches first.
func.func @train(%x: !x {titan.input = "x"}, %w: !titan.tensor<f32[layers = 3]> {titan.param = "w", titan.stacked}) -> !s
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!x, !titan.tensor<f32[layers = 3]>) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %wl: !s):
    %sum = titan.reduce sum %c : !x -> !s
    // expected-error @below {{needs the whole batch at once}}
    %n = titan.div %c, %sum : (!x, !s) -> !x
    titan.yield %n : !x
  }
  %sum = titan.reduce sum %y : !x -> !s
  return %sum : !s
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8]>

// A stacked output of the layers is the square of a sum times an iteration argument, which a second
// repeat after the loop cannot scan.
func.func @train(%x: !x {titan.input = "x"}, %w: !s {titan.param = "w"}) -> (!s, !titan.tensor<f32[layers = 3]>)
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  // expected-error @below {{needs a sum over the whole batch together with an iteration argument}}
  %y, %z, %stack = titan.repeat <layers = 3> iter_args(%x, %w) scanned() : (!x, !s) -> (!x, !s, !titan.tensor<f32[layers = 3]>) {
  // expected-note @below {{the iteration argument}}
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %v: !s):
    %u = titan.tanh %v : !s -> !s
    %d = titan.mul %c, %v : (!x, !s) -> !x
    %sum = titan.reduce sum %d : !x -> !s
    %square = titan.mul %sum, %sum : (!s, !s) -> !s
    %times = titan.mul %square, %v : (!s, !s) -> !s
    titan.yield %d, %u, %times : !x, !s, !s
  }
  %r = titan.reduce sum %y : !x -> !s
  return %r, %stack : !s, !titan.tensor<f32[layers = 3]>
}

// -----

!x = !titan.tensor<f32[batch = 8]>

// A function result that depends on the batch must be whole.
// expected-error @below {{returns a value with the dimension `batch`, which is never complete}}
func.func @train(%x: !x {titan.input = "x"}) -> !x
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %y = titan.neg %x : !x -> !x
  return %y : !x
}
