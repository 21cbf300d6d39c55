// RUN: titan-opt %s --titan-verify-model-phase --split-input-file --verify-diagnostics

!s = !titan.tensor<f32[]>

// (M1) An argument that is neither data nor a parameter.
// expected-error @below {{(M1) argument 0 has 0 roles, expected 1}}
func.func @train(%x: !s) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>

// (M1) An optimizer state, which only a later phase may add.
// expected-error @below {{(M1) argument 0 has `titan.state` already}}
func.func @train(%m: !s {titan.state = "m.w"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %m : !s
}

// -----

!s = !titan.tensor<f32[]>

// (M2) A parameter without an initialiser.
// expected-error @below {{(M2) parameter "w" has no `titan.init`}}
func.func @train(%w: !s {titan.param = "w"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %w : !s
}

// -----

!s = !titan.tensor<f32[]>

// (M2) Two parameters of one name would share memory.
// expected-error @below {{(M2) has two parameters "w"}}
func.func @train(%w: !s {titan.param = "w", titan.init = #titan.init<constant, [1.0]>},
                 %v: !s {titan.param = "w", titan.init = #titan.init<constant, [1.0]>}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %w : !s
}

// -----

!s = !titan.tensor<f32[]>
!t = !titan.tensor<f32[seq = 2]>

// expected-note @below {{there it is argument 0}}
func.func @train(%w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %w : !s
}

// (M3) A parameter with different types in two programs.
// expected-error @below {{(M3) parameter "w" has another type than in @train}}
func.func @logits(%w: !t {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>}) -> !t
    attributes {titan.program = "logits"} {
  return %w : !t
}

// -----

!s = !titan.tensor<f32[]>

// expected-note @below {{there it is argument 0}}
func.func @train(%w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %w : !s
}

// (M3) A parameter that is trained in one program and frozen in another.
// expected-error @below {{(M3) parameter "w" has another titan.frozen than in @train}}
func.func @logits(%w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>, titan.frozen}) -> !s
    attributes {titan.program = "logits"} {
  return %w : !s
}

// -----

!s = !titan.tensor<f32[]>

// (M4) A training step without a loss.
// expected-error @below {{(M4) has no result titan.output = "loss"}}
func.func @train(%w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>})
    attributes {titan.program = "train"} {
  return
}

// -----

!s = !titan.tensor<f32[]>

// (M4) A result of a training step that is not a loss.
// expected-error @below {{(M4) has a result that is neither a loss nor a metric nor the next value of a buffer: 0}}
func.func @train(%w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>}) -> !s
    attributes {titan.program = "train"} {
  return %w : !s
}

// -----

!t = !titan.tensor<f32[seq = 2]>

// (M4) A buffer without an update.
// expected-error @below {{(M4) updates argument 0 0 times, expected 1}}
func.func @train(%b: !t {titan.param = "b", titan.buffer, titan.init = #titan.init<constant, [1.0]>},
                 %w: !titan.tensor<f32[]> {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>})
    -> (!titan.tensor<f32[]> {titan.output = "loss"}) attributes {titan.program = "train"} {
  return %w : !titan.tensor<f32[]>
}

// -----

!s = !titan.tensor<f32[]>

// (M4) An update of a parameter, which only the optimizer may add.
// expected-error @below {{(M4) updates argument 0 1 times, expected 0}}
func.func @train(%w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>})
    -> (!s {titan.output = "loss"}, !s {titan.updates = 0}) attributes {titan.program = "train"} {
  return %w, %w : !s, !s
}

// -----

!s = !titan.tensor<f32[]>
!t = !titan.tensor<f32[seq = 2]>

// (M4) A next value of another type.
// expected-error @below {{(M4) result 1 of type '!titan.tensor<f32[]>' updates argument 0 of type '!titan.tensor<f32[seq = 2]>'}}
func.func @train(%b: !t {titan.param = "b", titan.buffer, titan.init = #titan.init<constant, [1.0]>},
                 %w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>})
    -> (!s {titan.output = "loss"}, !s {titan.updates = 0}) attributes {titan.program = "train"} {
  return %w, %w : !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// expected-note @below {{there it is argument 0}}
func.func @train(%b: !s {titan.param = "b", titan.buffer, titan.init = #titan.init<constant, [1.0]>})
    -> (!s {titan.output = "loss"}, !s {titan.updates = 0}) attributes {titan.program = "train"} {
  return %b, %b : !s, !s
}

// (M3) A buffer in one program and a parameter in another.
// expected-error @below {{(M3) parameter "b" has another titan.buffer than in @train}}
func.func @logits(%b: !s {titan.param = "b", titan.init = #titan.init<constant, [1.0]>}) -> !s
    attributes {titan.program = "logits"} {
  return %b : !s
}

// -----

!s = !titan.tensor<f32[]>

// (M4) A named loss without the sum of all losses.
// expected-error @below {{(M4) has no result titan.output = "loss"}}
func.func @train(%w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>})
    -> (!s {titan.output = "loss.z"}) attributes {titan.program = "train"} {
  return %w : !s
}

// -----

!s = !titan.tensor<f32[]>

// (M4) Two losses of one name.
// expected-error @below {{(M4) has two results titan.output = "loss.z"}}
func.func @train(%w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>})
    -> (!s {titan.output = "loss"}, !s {titan.output = "loss.z"}, !s {titan.output = "loss.z"})
    attributes {titan.program = "train"} {
  return %w, %w, %w : !s, !s, !s
}

// -----

!t = !titan.tensor<f32[seq = 2]>

// (M4) A loss per token is not a scalar.
// expected-error @below {{(M4) has the output "loss" of type '!titan.tensor<f32[seq = 2]>', expected a floating-point scalar}}
func.func @train(%w: !t {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>}) -> (!t {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %w : !t
}

// -----

!s = !titan.tensor<f32[]>

// (M5) A trained parameter without an optimizer.
// expected-error @below {{(M5) parameter "w" has no `titan.updated_by`}}
func.func @train(%w: !s {titan.param = "w", titan.init = #titan.init<constant, [1.0]>}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %w : !s
}

// -----

dist.mesh @mesh [#dist.axis<a = 2>]
!t = !titan.tensor<f32[seq = 2], <[{a}]>>

// (M6) A tensor with a sharding.
// expected-error @below {{(M6) takes a tensor with a sharding}}
func.func @shape(%x: !t) -> !t {
  return %x : !t
}

// -----

!i = !titan.tensor<i64[]>

// (M1) The seed of random tensors with a second role.
// expected-error @below {{(M1) argument 0 has 2 roles, expected 1}}
func.func @train(%step: !i {titan.scalar = "step", titan.input = "step"}) -> (!i {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %step : !i
}

// -----

!x = !titan.tensor<f32[seq = 1048576, embed = 4096]>
!e = !titan.tensor<f32[seq = 1048576, embed = 4096, ffn = 4096]>
!w = !titan.tensor<f32[experts = 8, embed = 4096, ffn = 4096]>
!i = !titan.tensor<i64[]>

// (M7) Elements of a table that no contraction takes, 2**44 of them in each iteration.
func.func @selects(%x: !x, %w: !w, %chosen: !titan.tensor<i64[seq = 1048576]>) -> !x {
  %y = titan.repeat <layers = 1024> iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !i, %c: !x):
    // expected-error @below {{(M7) a tensor with [seq = 1048576, embed = 4096, ffn = 4096] in repeats of layers = 1024 has over 2**53 elements}}
    %e = titan.gather %w along "experts" at %chosen : (!w, !titan.tensor<i64[seq = 1048576]>) -> !e
    %s = titan.reduce sum %e : !e -> !x
    titan.yield %s : !x
  }
  return %y : !x
}
