// RUN: titan-opt --titan-plan-memory %s -split-input-file -verify-diagnostics

// Every argument of a program must be something that the runtime fills.
// expected-error@+1 {{argument 0 has no role}}
func.func @train(%x: !titan.tensor<f32[]>) attributes {titan.program = "train"} {
  return
}

// -----

// Results too.
// expected-error@+1 {{result 0 has no role}}
func.func @train(%x: !titan.tensor<f32[]> {titan.input = "x"}) -> !titan.tensor<f32[]>
    attributes {titan.program = "train"} {
  return %x : !titan.tensor<f32[]>
}

// -----

// A parameter is one buffer for all functions, so it cannot have two types.
func.func @train(%x: !titan.tensor<f32[a = 2]> {titan.param = "w"}) attributes {titan.program = "train"} {
  return
}
// expected-error@+1 {{'w' is '!titan.tensor<f32[a = 3]>' here and '!titan.tensor<f32[a = 2]>' in another function}}
func.func @logits(%x: !titan.tensor<f32[a = 3]> {titan.param = "w"}) attributes {titan.program = "logits"} {
  return
}
