// RUN: titan-opt %s -split-input-file -verify-diagnostics

// A unary function cannot change dimensions.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) operand and result have different dimensions}}
  %0 = titan.exp %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[embed = 8]>
  return
}

// -----

// The operand of a unary function is floating-point.
func.func @f(%x: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C2) expected one floating-point element type}}
  %0 = titan.neg %x : !titan.tensor<i64[seq = 8]> -> !titan.tensor<i64[seq = 8]>
  return
}

// -----

// An angle is floating-point.
func.func @f(%x: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C2) expected one floating-point element type}}
  %0 = titan.sin %x : !titan.tensor<i64[seq = 8]> -> !titan.tensor<i64[seq = 8]>
  return
}

// -----

// The result has every dimension of the operands.
func.func @f(%x: !titan.tensor<f32[seq = 8]>, %y: !titan.tensor<f32[embed = 4]>) {
  // expected-error @+1 {{(C1) the result lacks the operand's dimension "embed"}}
  %0 = titan.add %x, %y : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[embed = 4]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// The result has only dimensions of the operands.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) no operand has the result's dimension "embed"}}
  %0 = titan.mul %x, %x : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[seq = 8]>) -> !titan.tensor<f32[seq = 8, embed = 4]>
  return
}

// -----

// Dimensions of one name have one size.
func.func @f(%x: !titan.tensor<f32[seq = 8]>, %y: !titan.tensor<f32[seq = 9]>) {
  // expected-error @+1 {{(C1) dimension "seq" has size 9 in an operand and 8 in the result}}
  %0 = titan.sub %x, %y : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[seq = 9]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// A binary function does not convert element types.
func.func @f(%x: !titan.tensor<f32[seq = 8]>, %y: !titan.tensor<f64[seq = 8]>) {
  // expected-error @+1 {{(C2) element types differ}}
  %0 = titan.div %x, %y : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f64[seq = 8]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// A comparison's result is boolean.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C2) expected operands of one element type and a result of i1}}
  %0 = titan.compare lt, %x, %x : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[seq = 8]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// A selection's condition is boolean.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C2) expected a condition of i1}}
  %0 = titan.select %x, %x, %x : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[seq = 8]>, !titan.tensor<f32[seq = 8]>) -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

// A cast does not change dimensions.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) operand and result have different dimensions}}
  %0 = titan.cast %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f64[]>
  return
}

// -----

// A broadcast removes no dimension.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) the result lacks the operand's dimension "seq"}}
  %0 = titan.expand %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[embed = 4]>
  return
}

// -----

// A constant is a scalar.
func.func @f() {
  // expected-error @+1 {{(C1) expected a result of rank 0}}
  %0 = titan.constant 1.0 : !titan.tensor<f32[seq = 8]>
  return
}

// -----

// An integer constant is not written as a floating-point number.
func.func @f() {
  // expected-error @+1 {{(C2) expected an integer, got 1.000000e+00 : f64}}
  %0 = titan.constant 1.0 : !titan.tensor<i64[]>
  return
}

// -----

// A floating-point constant is not written as an integer.
func.func @f() {
  // expected-error @+1 {{(C2) expected a floating-point number, got 1 : i64}}
  %0 = titan.constant 1 : !titan.tensor<f32[]>
  return
}

// -----

// A boolean is 0 or 1.
func.func @f() {
  // expected-error @+1 {{(C2) a boolean is 0 or 1, got 2}}
  %0 = titan.constant 2 : !titan.tensor<i1[]>
  return
}

// -----

// A copy has the type of its operand.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) operand and result differ}}
  %0 = titan.copy %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f64[seq = 8]>
  return
}

// -----

// An iota has one dimension.
func.func @f() {
  // expected-error @+1 {{(C1) expected a result of rank 1 and element type i64}}
  %0 = titan.iota : !titan.tensor<f32[seq = 8]>
  return
}

// -----

// All operands of a scalar function have one shape.
titan.scalar_function @first {
^bb0(%x: !titan.tensor<f32[]>, %y: !titan.tensor<f32[]>):
  titan.yield %x : !titan.tensor<f32[]>
}
func.func @f(%p: !titan.tensor<f32[embed = 4]>, %g: !titan.tensor<f32[ffn = 4]>) {
  // expected-error @+1 {{(C1) operand and result have different dimensions}}
  %0 = titan.apply @first(%p, %g) : (!titan.tensor<f32[embed = 4]>, !titan.tensor<f32[ffn = 4]>) -> !titan.tensor<f32[embed = 4]>
  return
}

// -----

// The element types are those of the function.
titan.scalar_function @first {
^bb0(%x: !titan.tensor<f32[]>):
  titan.yield %x : !titan.tensor<f32[]>
}
func.func @f(%p: !titan.tensor<f64[embed = 4]>) {
  // expected-error @+1 {{(C2) element types differ from those of @first}}
  %0 = titan.apply @first(%p) : (!titan.tensor<f64[embed = 4]>) -> !titan.tensor<f64[embed = 4]>
  return
}

// -----

func.func @f(%p: !titan.tensor<f64[embed = 4]>) {
  // expected-error @+1 {{no scalar function is called @missing}}
  %0 = titan.apply @missing(%p) : (!titan.tensor<f64[embed = 4]>) -> !titan.tensor<f64[embed = 4]>
  return
}

// -----

// expected-error @+1 {{(C1) expected arguments of rank 0}}
titan.scalar_function @first {
^bb0(%x: !titan.tensor<f32[embed = 4]>):
  titan.yield %x : !titan.tensor<f32[embed = 4]>
}

// -----

// expected-error @+1 {{(C2) 'titan.reduce' is not a function of one element}}
titan.scalar_function @total {
^bb0(%x: !titan.tensor<f32[]>):
  %s = titan.reduce sum %x : !titan.tensor<f32[]> -> !titan.tensor<f32[]>
  titan.yield %s : !titan.tensor<f32[]>
}

// -----

!x = !titan.tensor<f64[]>
// expected-error @below {{(C3) has 1 arguments, but `titan.schedule` lists 2}}
titan.scalar_function @schedule attributes {titan.schedule = ["step", "steps"]} {
^bb0(%x: !x):
  titan.yield %x : !x
}

// -----

!x = !titan.tensor<f32[]>
// expected-error @below {{(C3) with `titan.schedule`, expected f64 arguments and one f64 result}}
titan.scalar_function @schedule attributes {titan.schedule = ["step"]} {
^bb0(%x: !x):
  titan.yield %x : !x
}

// -----

!x = !titan.tensor<f64[]>
// expected-error @below {{(C3) has 1 arguments, but `titan.batch_values` lists 0}}
titan.scalar_function @rate attributes {titan.evaluates = "metric.rate", titan.batch_values = []} {
^bb0(%x: !x):
  titan.yield %x : !x
}
