// RUN: titan-opt %s --titan-split-stages --split-input-file --verify-diagnostics

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>

dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [2, 2] schedule "1f1b" microbatches 2
// The layers per stage must add up to all layers.
func.func @train(%x: !s {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  // expected-error @below {{has 5 iterations, but the stages of the pipeline have 4}}
  %y = titan.repeat <layers = 5> iter_args(%x) scanned() : (!s) -> !s {
  ^bb0(%l: !i, %c: !s):
    titan.yield %c : !s
  }
  return %y : !s
}

// -----

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>
!w = !titan.tensor<f32[layers = 2]>

dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [1, 1] schedule "1f1b" microbatches 2
// A rank has only the layers of its stages, so no operation can read a stack of all layers.
// expected-note @below {{the tensor}}
func.func @train(%w: !w {titan.param = "layers.w", titan.stacked}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  %x = titan.reduce sum %w : !w -> !s
  // expected-error @below {{scans a tensor that is used elsewhere, too; a pipeline cannot divide it}}
  %y = titan.repeat <layers = 2> iter_args(%x) scanned(%w) : (!s, !w) -> !s {
  ^bb0(%l: !i, %c: !s, %wl: !s):
    titan.yield %wl : !s
  }
  return %y : !s
}

// -----

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>
!w = !titan.tensor<f32[layers = 2]>

dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [1, 1] schedule "1f1b" microbatches 2
// No operation can read a stack of values that all layers compute, either.
func.func @train(%x: !s {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  // expected-error @below {{stacks a value of all layers that is used after the repeat; a pipeline can only divide the next values of buffers}}
  %y:2 = titan.repeat <layers = 2> iter_args(%x) scanned() : (!s) -> (!s, !w) {
  ^bb0(%l: !i, %c: !s):
    titan.yield %c, %c : !s, !s
  }
  // expected-note @below {{used here}}
  %z = titan.reduce sum %y#1 : !w -> !s
  return %z : !s
}

// -----

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>

dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [2, 2] schedule "1f1b" microbatches 2
// Repeats of the model share no layers.
func.func @train(%x: !s {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 2> iter_args(%x) scanned() {titan.first_layer = 0 : i64} : (!s) -> !s {
  ^bb0(%l: !i, %c: !s):
    titan.yield %c : !s
  }
  // expected-error @below {{has layer 1, which is a layer of another repeat, or not one of the 4 of the pipeline}}
  %z = titan.repeat <layers = 2> iter_args(%y) scanned() {titan.first_layer = 1 : i64} : (!s) -> !s {
  ^bb0(%l: !i, %c: !s):
    titan.yield %c : !s
  }
  return %z : !s
}
