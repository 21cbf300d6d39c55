// The loop and control-flow interfaces of the repeat, through upstream passes.
// RUN: titan-opt %s --split-input-file --loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: titan-opt %s --split-input-file --sccp | FileCheck %s --check-prefix=SCCP

!x = !titan.tensor<f32[seq = 8]>
!i = !titan.tensor<i64[]>

// Every body of a repeat runs at least once, so loop-invariant operations move out of all bodies.
// LICM-LABEL: func.func @invariant
// LICM: %[[E:.*]] = titan.exp %arg1
// LICM: %[[T:.*]] = titan.tanh %arg1
// LICM: titan.repeat
// LICM: titan.mul %{{.*}}, %[[E]]
// LICM: titan.add %{{.*}}, %[[T]]
func.func @invariant(%x: !x, %y: !x) -> !x {
  %z = titan.repeat <layers = 3> table [0, 1, 0] iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !i, %c: !x):
    %e = titan.exp %y : !x -> !x
    %n = titan.mul %c, %e : (!x, !x) -> !x
    titan.yield %n : !x
  }, {
  ^bb0(%l: !i, %c: !x):
    %t = titan.tanh %y : !x -> !x
    %n = titan.add %c, %t : (!x, !x) -> !x
    titan.yield %n : !x
  }
  return %z : !x
}

// -----

!i = !titan.tensor<i64[]>

// The first argument is 2 in all iterations and after the last; the second one changes.
// SCCP-LABEL: func.func @constant
// SCCP: %[[TWO:.*]] = titan.constant 2 : {{.*}}i64
// SCCP: titan.repeat
// SCCP: ^bb0(%{{.*}}, %{{.*}}, %[[SUM:.*]]: !titan.tensor<i64[]>)
// SCCP: titan.add %[[SUM]], %{{.*}}
// SCCP: return %{{.*}}, %{{.*}}#1
func.func @constant(%a: !i) -> (!i, !i) {
  %two = titan.constant 2 : !i
  %r:2 = titan.repeat <layers = 3> iter_args(%two, %a) scanned() : (!i, !i) -> (!i, !i) {
  ^bb0(%l: !i, %c: !i, %s: !i):
    %n = titan.add %s, %c : (!i, !i) -> !i
    titan.yield %c, %n : !i, !i
  }
  return %r#0, %r#1 : !i, !i
}

// -----

!i = !titan.tensor<i64[]>

// Iteration 0 runs body 0, in which the argument is 2; the last one runs body 1, which yields 3. The order of the table is
// known, so the result is 3.
// SCCP-LABEL: func.func @order
// SCCP: %[[THREE:.*]] = titan.constant 3
// SCCP: return %[[THREE]]
func.func @order() -> !i {
  %two = titan.constant 2 : !i
  %r = titan.repeat <layers = 2> table [0, 1] iter_args(%two) scanned() : (!i) -> !i {
  ^bb0(%l: !i, %c: !i):
    titan.yield %c : !i
  }, {
  ^bb0(%l: !i, %c: !i):
    %three = titan.constant 3 : !i
    titan.yield %three : !i
  }
  return %r : !i
}
