// RUN: titan-opt --titan-plan-memory %s -split-input-file -verify-diagnostics

// Every argument of a program has a role.
// expected-error@+1 {{argument 0 has no role}}
func.func @train(%x: !titan.tensor<f32[]>) attributes {titan.program = "train"} {
  return
}

// -----

// Every result has a role.
// expected-error@+1 {{result 0 has no role}}
func.func @train(%x: !titan.tensor<f32[]> {titan.input = "x"}) -> !titan.tensor<f32[]>
    attributes {titan.program = "train"} {
  return %x : !titan.tensor<f32[]>
}

// -----

// All functions share the allocation of a parameter, so it has one type.
func.func @train(%x: !titan.tensor<f32[a = 2]> {titan.param = "w"}) attributes {titan.program = "train"} {
  return
}
// expected-error@+1 {{'w' is '!titan.tensor<f32[a = 3]>' here and '!titan.tensor<f32[a = 2]>' in another function}}
func.func @logits(%x: !titan.tensor<f32[a = 3]> {titan.param = "w"}) attributes {titan.program = "logits"} {
  return
}

// -----

// Without --titan-sequentialize-copies, results must not exchange their allocations.
// expected-error@+1 {{results 0 and 1 exchange allocations}}
func.func @train(%p: !titan.tensor<f32[x = 4]> {titan.param = "p"}, %q: !titan.tensor<f32[x = 4]> {titan.param = "q"})
    -> (!titan.tensor<f32[x = 4]> {titan.updates = 0}, !titan.tensor<f32[x = 4]> {titan.updates = 1})
    attributes {titan.program = "train"} {
  return %q, %p : !titan.tensor<f32[x = 4]>, !titan.tensor<f32[x = 4]>
}

// -----

func.func @train(%p: !titan.tensor<f32[x = 4]> {titan.param = "p"}) attributes {titan.program = "train"} {
  %a = titan.neg %p : !titan.tensor<f32[x = 4]> -> !titan.tensor<f32[x = 4]>
  %b = titan.exp %p : !titan.tensor<f32[x = 4]> -> !titan.tensor<f32[x = 4]>
  // expected-error@+1 {{iteration arguments 0 and 1 exchange allocations}}
  %0:2 = titan.repeat <layers = 3> iter_args(%a, %b) scanned() : (!titan.tensor<f32[x = 4]>, !titan.tensor<f32[x = 4]>) -> (!titan.tensor<f32[x = 4]>, !titan.tensor<f32[x = 4]>) {
  ^bb0(%l: !titan.tensor<i64[]>, %x: !titan.tensor<f32[x = 4]>, %y: !titan.tensor<f32[x = 4]>):
    titan.yield %y, %x : !titan.tensor<f32[x = 4]>, !titan.tensor<f32[x = 4]>
  }
  return
}
