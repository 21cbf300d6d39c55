// RUN: titan-opt %s -split-input-file -verify-diagnostics

!x = !titan.tensor<f32[seq = 8]>
// The body takes the index, then what is carried and sliced.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C1) expected 2 arguments of the body, got 1}}
  %y = titan.repeat <layers = 6> carry(%x) slices() : (!x) -> !x {
  ^bb0(%c: !x):
    titan.yield %c : !x
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// A slice lacks the repeated dimension.
func.func @f(%w: !titan.tensor<f32[layers = 6, seq = 8]>) {
  // expected-error @+1 {{(C1) slices}}
  titan.repeat <layers = 6> carry() slices(%w) : (!titan.tensor<f32[layers = 6, seq = 8]>) -> () {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[layers = 6, seq = 8]>):
    titan.yield
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// What is carried keeps its type.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C2) yields}}
  %y = titan.repeat <layers = 6> carry(%x) slices() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %l : !titan.tensor<i64[]>
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// A stack gains the repeated dimension in front.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C3) result 0 is}}
  %y = titan.repeat <layers = 6> carry() slices() : () -> !x {
  ^bb0(%l: !titan.tensor<i64[]>):
    titan.yield %x : !x
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// Every result is yielded.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C3) expected a yield of 1 values}}
  %y = titan.repeat <layers = 6> carry(%x) slices() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield
  }
  return
}
