// RUN: titan-opt %s -split-input-file -verify-diagnostics

// A result updates an argument of its function.
// expected-error @below {{result 0 updates argument 99 (`titan.updates`), which does not exist}}
func.func @f(%x: !titan.tensor<f32[]> {titan.param = "x"}) -> (!titan.tensor<f32[]> {titan.updates = 99 : i64}) {
  return %x : !titan.tensor<f32[]>
}

// -----

// A negative index is no argument either.
// expected-error @below {{which does not exist}}
func.func @f(%x: !titan.tensor<f32[]> {titan.param = "x"}) -> (!titan.tensor<f32[]> {titan.updates = -1 : i64}) {
  return %x : !titan.tensor<f32[]>
}

// -----

// The runtime alone sets inputs and scalars.
// expected-error @below {{result 0 updates argument 1 (`titan.updates`), which is `titan.scalar` = "lr" and has no next value}}
func.func @f(%x: !titan.tensor<f32[]> {titan.param = "x"}, %lr: !titan.tensor<f32[]> {titan.scalar = "lr"})
    -> (!titan.tensor<f32[]> {titan.updates = 1 : i64}) {
  return %x : !titan.tensor<f32[]>
}

// -----

// expected-error @below {{result 0 updates argument 0 (`titan.updates`), which is `titan.input` = "x" and has no next value}}
func.func @f(%x: !titan.tensor<f32[]> {titan.input = "x"}) -> (!titan.tensor<f32[]> {titan.updates = 0 : i64}) {
  return %x : !titan.tensor<f32[]>
}

// -----

// An optimizer takes the rate and the number of the update.
// expected-error @below {{argument 2 of an optimizer has `titan.scalar` = "stepp", expected "lr" or "step"}}
func.func private @still(%p: !titan.tensor<f32[]> {titan.operand = "parameter"}, %g: !titan.tensor<f32[]> {titan.operand = "gradient"},
    %s: !titan.tensor<f32[]> {titan.scalar = "stepp"}) -> (!titan.tensor<f32[]> {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  return %p : !titan.tensor<f32[]>
}
