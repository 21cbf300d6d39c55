// RUN: titan-opt %s --titan-add-optimizer --split-input-file --verify-diagnostics

!s = !titan.tensor<f32[]>

// The optimizer's settings belong to the function.
// expected-error @below {{has no attribute titan.optimizer}}
func.func @train(%x: !s {titan.param = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>

// An optimizer that nobody wrote is named, with those that exist.
// expected-error @below {{asks for an unknown optimizer "magic"; known: "adamw"}}
func.func @train(%x: !s {titan.param = "x"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train", titan.optimizer = {name = "magic"}} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>

// Every setting is needed, as an f64.
// expected-error @below {{needs eps as an f64 in titan.optimizer, got 5.000000e-01 : f32}}
func.func @train(%x: !s {titan.param = "x"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train",
                titan.optimizer = {name = "adamw", beta1 = 0.9, beta2 = 0.95, eps = 0.5 : f32, clip = 0.0}} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>

// Gradients come first.
// expected-error @below {{returns no gradient of parameter "x"; run --titan-differentiate first}}
func.func @train(%x: !s {titan.param = "x"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train",
                titan.optimizer = {name = "adamw", beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, clip = 0.0}} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>

// With every parameter frozen there is nothing to do.
// expected-error @below {{there is no parameter to train}}
func.func @train(%x: !s {titan.param = "x", titan.frozen}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train",
                titan.optimizer = {name = "adamw", beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, clip = 0.0}} {
  return %x : !s
}

// -----

!s = !titan.tensor<f32[]>

// Betas of a parameter are two.
// expected-error @below {{needs two numbers as titan.betas of parameter "x", got array<f64: 5.000000e-01>}}
func.func @train(%x: !s {titan.param = "x", titan.betas = array<f64: 0.5>})
    -> (!s {titan.output = "loss"}, !s {titan.gradient = "x"})
    attributes {titan.program = "train",
                titan.optimizer = {name = "adamw", beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, clip = 0.0}} {
  return %x, %x : !s, !s
}
