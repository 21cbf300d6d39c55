// RUN: titan-opt --dist-form-fragments --split-input-file --verify-diagnostics %s

// A loop over microbatches must yield sums.
func.func @last(%x: !titan.tensor<f32[microbatches = 2, batch = 2]> {titan.input = "x"}) -> (!titan.tensor<f32[batch = 2]> {titan.output = "y"}) attributes {titan.program = "last"} {
  %zero = titan.constant 0.0 : <f32[]>
  %init = titan.expand %zero : <f32[]> -> <f32[batch = 2]>
  %y = titan.repeat <microbatches = 2> iter_args(%init) scanned(%x) : (!titan.tensor<f32[batch = 2]>, !titan.tensor<f32[microbatches = 2, batch = 2]>) -> !titan.tensor<f32[batch = 2]> {
  ^bb0(%m: !titan.tensor<i64[]>, %c: !titan.tensor<f32[batch = 2]>, %slot: !titan.tensor<f32[batch = 2]>):
    // expected-error@+1 {{@last returns a value of its last microbatch; a pipeline returns sums over microbatches only}}
    %copy = titan.neg %slot : !titan.tensor<f32[batch = 2]> -> !titan.tensor<f32[batch = 2]>
    %z = titan.repeat <a = 1> iter_args(%slot) scanned() {titan.stage = 0 : i64} : (!titan.tensor<f32[batch = 2]>) -> !titan.tensor<f32[batch = 2]> {
    ^bb0(%l: !titan.tensor<i64[]>, %d: !titan.tensor<f32[batch = 2]>):
      titan.yield %d : !titan.tensor<f32[batch = 2]>
    }
    titan.yield %copy : !titan.tensor<f32[batch = 2]>
  }
  return %y : !titan.tensor<f32[batch = 2]>
}

// -----

// Microbatches must be slices of inputs.
func.func @computed(%x: !titan.tensor<f32[microbatches = 2, batch = 2]> {titan.input = "x"}) -> (!titan.tensor<f32[batch = 2]> {titan.output = "y"}) attributes {titan.program = "computed"} {
  %zero = titan.constant 0.0 : <f32[]>
  %init = titan.expand %zero : <f32[]> -> <f32[batch = 2]>
  %twice = titan.add %x, %x : (!titan.tensor<f32[microbatches = 2, batch = 2]>, !titan.tensor<f32[microbatches = 2, batch = 2]>) -> !titan.tensor<f32[microbatches = 2, batch = 2]>
  %y = titan.repeat <microbatches = 2> iter_args(%init) scanned(%twice) : (!titan.tensor<f32[batch = 2]>, !titan.tensor<f32[microbatches = 2, batch = 2]>) -> !titan.tensor<f32[batch = 2]> {
  // expected-error@+1 {{@computed slices a computed value into microbatches; a pipeline slices inputs only}}
  ^bb0(%m: !titan.tensor<i64[]>, %c: !titan.tensor<f32[batch = 2]>, %slot: !titan.tensor<f32[batch = 2]>):
    %z = titan.repeat <a = 1> iter_args(%slot) scanned() {titan.stage = 0 : i64} : (!titan.tensor<f32[batch = 2]>) -> !titan.tensor<f32[batch = 2]> {
    ^bb0(%l: !titan.tensor<i64[]>, %d: !titan.tensor<f32[batch = 2]>):
      titan.yield %d : !titan.tensor<f32[batch = 2]>
    }
    %sum = titan.add %c, %z : (!titan.tensor<f32[batch = 2]>, !titan.tensor<f32[batch = 2]>) -> !titan.tensor<f32[batch = 2]>
    titan.yield %sum : !titan.tensor<f32[batch = 2]>
  }
  return %y : !titan.tensor<f32[batch = 2]>
}

// -----

// A fragment that runs once per microbatch reads only the slot of its microbatch, not the whole input.
func.func @whole(%x: !titan.tensor<f32[microbatches = 2, batch = 2]> {titan.input = "x"}) -> (!titan.tensor<f32[]> {titan.output = "y"}) attributes {titan.program = "whole"} {
  %zero = titan.constant 0.0 : <f32[]>
  // expected-error@+1 {{needs the whole batch of `x` in every microbatch, so the step cannot be split into microbatches of a pipeline}}
  %all = titan.exp %x : <f32[microbatches = 2, batch = 2]> -> <f32[microbatches = 2, batch = 2]>
  %y = titan.repeat <microbatches = 2> iter_args(%zero) scanned(%x) : (!titan.tensor<f32[]>, !titan.tensor<f32[microbatches = 2, batch = 2]>) -> !titan.tensor<f32[]> {
  ^bb0(%m: !titan.tensor<i64[]>, %c: !titan.tensor<f32[]>, %slot: !titan.tensor<f32[batch = 2]>):
    %mean = titan.reduce sum %all : !titan.tensor<f32[microbatches = 2, batch = 2]> -> !titan.tensor<f32[]>
    %z = titan.repeat <a = 1> iter_args(%mean) scanned() {titan.stage = 0 : i64} : (!titan.tensor<f32[]>) -> !titan.tensor<f32[]> {
    ^bb0(%l: !titan.tensor<i64[]>, %d: !titan.tensor<f32[]>):
      titan.yield %d : !titan.tensor<f32[]>
    }
    %sum = titan.add %c, %z : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
    titan.yield %sum : !titan.tensor<f32[]>
  }
  return %y : !titan.tensor<f32[]>
}

// -----

// Every turn has at least one layer of the pipeline.
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [1, 1] schedule "1f1b" microbatches 1
// expected-error@+1 {{is a turn of @train, but has no layer of the pipeline}}
func.func @train.aside(%x: !titan.tensor<f32[]> {titan.input = "x"}) -> (!titan.tensor<f32[]> {titan.output = "loss"}) attributes {titan.program = "train.aside", titan.turn = #titan.turn<due = [#titan.period<every = 1, offset = 0>], idle = []>} {
  return %x : !titan.tensor<f32[]>
}
