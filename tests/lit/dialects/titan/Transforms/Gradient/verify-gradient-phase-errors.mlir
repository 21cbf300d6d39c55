// RUN: titan-opt %s --titan-verify-gradient-phase --split-input-file --verify-diagnostics

!s = !titan.tensor<f32[]>

// (G1) A parameter without a gradient.
// expected-error @below {{(G1) returns 0 gradients of parameter "x"}}
func.func @train(%x: !s {titan.param = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>
!t = !titan.tensor<f32[seq = 2]>

// (G1) A gradient of another type than its parameter.
// expected-error @below {{(G1) returns a gradient of "x" of type '!titan.tensor<f32[]>', expected '!titan.tensor<f32[seq = 2]>'}}
func.func @train(%x: !t {titan.param = "x"}, %s: !s) -> (!s {titan.output = "loss"}, !s {titan.gradient = "x"})
    attributes {titan.program = "train"} {
  return %s, %s : !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// (G2) A state that no result updates.
// expected-error @below {{(G2) updates argument 1 0 times, expected 1}}
func.func @train(%x: !s {titan.param = "x"}, %m: !s {titan.state = "m.x"})
    -> (!s {titan.output = "loss"}, !s {titan.gradient = "x"}, !s {titan.updates = 0}) attributes {titan.program = "train"} {
  return %x, %x, %x : !s, !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// (G2) A frozen parameter with an update.
// expected-error @below {{(G2) updates argument 0 1 times, expected 0}}
func.func @train(%x: !s {titan.param = "x", titan.frozen})
    -> (!s {titan.output = "loss"}, !s {titan.updates = 0}) attributes {titan.program = "train"} {
  return %x, %x : !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// (G2) A buffer with two updates.
// expected-error @below {{(G2) updates argument 0 2 times, expected 1}}
func.func @train(%x: !s {titan.param = "x", titan.buffer})
    -> (!s {titan.output = "loss"}, !s {titan.updates = 0}, !s {titan.updates = 0}) attributes {titan.program = "train"} {
  return %x, %x, %x : !s, !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// (G1) A buffer with a gradient.
// expected-error @below {{(G1) returns 1 gradients of parameter "x"}}
func.func @train(%x: !s {titan.param = "x", titan.buffer})
    -> (!s {titan.output = "loss"}, !s {titan.updates = 0}, !s {titan.gradient = "x"}) attributes {titan.program = "train"} {
  return %x, %x, %x : !s, !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// (G2) An update of an argument that does not exist.
// expected-error @below {{result 1 updates argument 7 (`titan.updates`), which does not exist}}
func.func @train(%x: !s {titan.param = "x", titan.frozen})
    -> (!s {titan.output = "loss"}, !s {titan.updates = 7}) attributes {titan.program = "train"} {
  return %x, %x : !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// (G3) A step without a learning rate.
// expected-error @below {{(G3) has no argument titan.scalar = "lr"}}
func.func @train(%x: !s {titan.param = "x", titan.frozen}, %step: !s {titan.scalar = "step"})
    -> (!s {titan.output = "loss"}, !s {titan.output = "grad_norm"}) attributes {titan.program = "train"} {
  return %x, %x : !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// (G4) An operation of the model phase that remains.
func.func @logits(%x: !s {titan.param = "x"}) -> (!s {titan.output = "logits"}) attributes {titan.program = "logits"} {
  // expected-error @below {{(G4) must not remain after the gradient phase}}
  %0 = titan.stop_gradient %x : !s -> !s
  return %0 : !s
}
