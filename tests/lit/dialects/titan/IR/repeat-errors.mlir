// RUN: titan-opt %s -split-input-file -verify-diagnostics

!x = !titan.tensor<f32[seq = 8]>
// The body has the index, then iteration arguments, then slots of scanned inputs.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C1) expected 2 arguments of the body, got 1}}
  %y = titan.repeat <layers = 6> iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%c: !x):
    titan.yield %c : !x
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// A slot lacks the repeated dimension.
func.func @f(%w: !titan.tensor<f32[layers = 6, seq = 8]>) {
  // expected-error @+1 {{(C1) scans}}
  titan.repeat <layers = 6> iter_args() scanned(%w) : (!titan.tensor<f32[layers = 6, seq = 8]>) -> () {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[layers = 6, seq = 8]>):
    titan.yield
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// An iteration argument has one type.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C2) yields}}
  %y = titan.repeat <layers = 6> iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %l : !titan.tensor<i64[]>
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// A stacked output has the repeated dimension as leading dimension.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C3) result 0 is}}
  %y = titan.repeat <layers = 6> iter_args() scanned() : () -> !x {
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
  %y = titan.repeat <layers = 6> iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// Several bodies need a table.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C4) has 2 bodies and no table of iterations}}
  %y = titan.repeat <layers = 2> iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %c : !x
  }, {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %c : !x
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// The table of variants has one entry per iteration.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C4) the table has 2 entries for 3 iterations}}
  %y = titan.repeat <layers = 3> table [0, 0] iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %c : !x
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// The table contains only existing bodies.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C4) the table names variant 1 of 1}}
  %y = titan.repeat <layers = 2> table [0, 1] iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %c : !x
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// The table contains every body.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C4) no iteration runs variant 0}}
  %y = titan.repeat <layers = 2> table [1, 1] iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %c : !x
  }, {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %c : !x
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// A scanned input has one slot per iteration that uses it.
func.func @f(%x: !x, %w: !titan.tensor<f32[layers = 2, seq = 8]>) {
  // expected-error @+1 {{(C1) scans}}
  titan.repeat <layers = 2> table [0, 1] iter_args() scanned(%w for [1]) : (!titan.tensor<f32[layers = 2, seq = 8]>) -> () {
  ^bb0(%l: !titan.tensor<i64[]>):
    titan.yield
  }, {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
!w = !titan.tensor<f32[layers.x1 = 1 of layers, seq = 8]>
// The users of a scanned input are variants, each listed once.
func.func @f(%x: !x, %w: !w) {
  // expected-error @+1 {{(C5) the users of scanned inputs must be ascending variants below 2, got [1, 1, 1]}}
  titan.repeat <layers = 2> table [0, 1] iter_args() scanned(%w for [1, 1, 1]) : (!w) -> () {
  ^bb0(%l: !titan.tensor<i64[]>):
    titan.yield
  }, {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield
  }
  return
}

// -----

!x = !titan.tensor<f32[seq = 8]>
// Each stacked output lists its users.
func.func @f(%x: !x) {
  // expected-error @+1 {{(C5) expected the users of 2 stacked outputs, got 1 lists}}
  titan.repeat <layers = 2> table [0, 1] iter_args() scanned() stacked([0]) : () -> (!x, !x) {
  ^bb0(%l: !titan.tensor<i64[]>):
    titan.yield %x : !x
  }, {
  ^bb0(%l: !titan.tensor<i64[]>):
    titan.yield
  }
  return
}

// -----

// A repeat has at least one iteration.
!x = !titan.tensor<f32[seq = 8]>
func.func @f(%x: !x) {
  // expected-error @+1 {{(C4) repeats -1 times}}
  %y = titan.repeat <layers = -1> iter_args() scanned() : () -> !x {
  ^bb0(%l: !titan.tensor<i64[]>):
    titan.yield %x : !x
  }
  return
}

// -----

// A value of the body cannot be an operand of the repeat, even if a value outside has the same name.
!x = !titan.tensor<f32[seq = 8]>
func.func @f() {
  // expected-error @+1 {{use of undeclared SSA value name}}
  %y = titan.repeat <layers = 2> iter_args(%c) scanned() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %c : !x
  }
  return
}
