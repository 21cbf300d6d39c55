// RUN: titan-opt %s --titan-add-optimizer --split-input-file --verify-diagnostics

!s = !titan.tensor<f32[]>

// A trained parameter names its optimizer.
// expected-error @below {{names no optimizer of parameter "x"}}
func.func @train(%x: !s {titan.param = "x"}) -> (!s {titan.output = "loss"}, !s {titan.gradient = "x"})
    attributes {titan.program = "train"} {
  return %x, %x : !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// An optimizer is a function of the module.
// expected-error @below {{asks for the optimizer @magic of parameter "x", but no function with `titan.optimizer` has this name}}
func.func @train(%x: !s {titan.param = "x", titan.updated_by = @magic}) -> (!s {titan.output = "loss"}, !s {titan.gradient = "x"})
    attributes {titan.program = "train"} {
  return %x, %x : !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// Each argument has an operand in the program: here the second rate has none.
// expected-error @below {{argument 3 is neither the parameter nor its gradient, no state, and not the first argument titan.scalar = "lr" or "step"}}
func.func private @still(%p: !s {titan.operand = "parameter"}, %g: !s {titan.operand = "gradient"}, %r: !s {titan.scalar = "lr"},
    %q: !s {titan.scalar = "lr"}) -> (!s {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  %n = titan.mul %p, %q : (!s, !s) -> !s
  return %n : !s
}
func.func @train(%x: !s {titan.param = "x", titan.updated_by = @still}) -> (!s {titan.output = "loss"}, !s {titan.gradient = "x"})
    attributes {titan.program = "train"} {
  return %x, %x : !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// Its arguments have roles.
// expected-error @below {{has no argument titan.operand = "gradient"}}
func.func private @still(%p: !s {titan.operand = "parameter"}) -> (!s {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  return %p : !s
}
func.func @train(%x: !s {titan.param = "x", titan.updated_by = @still}) -> (!s {titan.output = "loss"}, !s {titan.gradient = "x"})
    attributes {titan.program = "train"} {
  return %x, %x : !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// The results contain new values of the parameter and of every state.
// expected-error @below {{returns no new value of argument 2}}
func.func private @still(%p: !s {titan.operand = "parameter"}, %g: !s {titan.operand = "gradient"}, %m: !s {titan.state = "m"})
    -> (!s {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  return %p : !s
}
func.func @train(%x: !s {titan.param = "x", titan.updated_by = @still}) -> (!s {titan.output = "loss"}, !s {titan.gradient = "x"})
    attributes {titan.program = "train"} {
  return %x, %x : !s, !s
}

// -----

!s = !titan.tensor<f32[]>
!t = !titan.tensor<f32[seq = 8]>

// A new value has the type of the old one.
// expected-error @below {{replaces argument 0 of type '!titan.tensor<f32[seq = 8]>' by '!titan.tensor<f32[]>'}}
func.func private @sum(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"})
    -> (!s {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  %s = titan.reduce sum %p : !t -> !s
  return %s : !s
}
func.func @train(%x: !t {titan.param = "x", titan.updated_by = @sum}) -> (!s {titan.output = "loss"}, !t {titan.gradient = "x"})
    attributes {titan.program = "train"} {
  %s = titan.reduce sum %x : !t -> !s
  return %s, %x : !s, !t
}

// -----

!s = !titan.tensor<f32[]>
!t = !titan.tensor<f32[seq = 8]>

// An optimizer has dimensions of the parameter: all, or those of one layer or of one matrix of a batch.
func.func private @still(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"})
    -> (!t {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  return %p : !t
}
// expected-error @below {{updates parameter "x" of type '!titan.tensor<f32[]>' by @still, which takes '!titan.tensor<f32[seq = 8]>'}}
func.func @train(%x: !s {titan.param = "x", titan.updated_by = @still}) -> (!s {titan.output = "loss"}, !s {titan.gradient = "x"})
    attributes {titan.program = "train"} {
  return %x, %x : !s, !s
}

// -----

!s = !titan.tensor<f32[]>
!t = !titan.tensor<f32[rows = 8, columns = 4]>
!u = !titan.tensor<f32[columns = 4, heads = 2, rows = 8]>

// They have the order of the parameter's.
func.func private @still(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"})
    -> (!t {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  return %p : !t
}
// expected-error @below {{updates parameter "x" of type '!titan.tensor<f32[columns = 4, heads = 2, rows = 8]>' by @still, which takes '!titan.tensor<f32[rows = 8, columns = 4]>'}}
func.func @train(%x: !u {titan.param = "x", titan.updated_by = @still}) -> (!s {titan.output = "loss"}, !u {titan.gradient = "x"})
    attributes {titan.program = "train"} {
  %s = titan.reduce sum %x : !u -> !s
  return %s, %x : !s, !u
}

// -----

!s = !titan.tensor<f32[]>

// expected-error @below {{needs an f64 as titan.clip, got 5.000000e-01 : f32}}
func.func @train(%x: !s {titan.param = "x"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train", titan.clip = 0.5 : f32} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>

// expected-error @below {{needs an f64 as titan.clip_value, got 5.000000e-01 : f32}}
func.func @train(%x: !s {titan.param = "x"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train", titan.clip_value = 0.5 : f32} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>

// The optimizer needs gradients, so differentiation runs first.
// expected-error @below {{returns no gradient of parameter "x"; run --titan-differentiate first}}
func.func @train(%x: !s {titan.param = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>

// If every parameter is frozen, no optimizer can be added.
// expected-error @below {{there is no parameter to train}}
func.func @train(%x: !s {titan.param = "x", titan.frozen}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %x : !s
}
