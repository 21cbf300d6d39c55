// RUN: titan-opt %s --titan-differentiate --split-input-file --verify-diagnostics | FileCheck %s

!x = !titan.tensor<f32[seq = 8, in = 4]>
!w = !titan.tensor<f32[in = 4, out = 2]>
!y = !titan.tensor<f32[seq = 8, out = 2]>
!s = !titan.tensor<f32[]>

// The example of the pass's description: one gradient after the loss, none for the frozen
// parameter. The derivative of exp is its result.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: {{[^)]*}}) -> (!titan.tensor<f32[]> {titan.output = "loss"}, !titan.tensor<f32[in = 4, out = 2]> {titan.gradient = "w"}) attributes {titan.program = "train"}
// CHECK: %[[E:.*]] = titan.exp
// CHECK-NEXT: %[[LOSS:.*]] = titan.reduce sum
// CHECK-NEXT: %[[DW:.*]] = titan.contract %[[X]], %[[E]] {titan.grad_kind = "wgrad"}
// CHECK-NEXT: return %[[LOSS]], %[[DW]]
func.func @train(%x: !x {titan.param = "x", titan.frozen}, %w: !w {titan.param = "w"})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.contract %x, %w : (!x, !w) -> !y
  %e = titan.exp %y : !y -> !y
  %loss = titan.reduce sum %e : !y -> !s
  return %loss : !s
}

// Other programs stay unchanged.
// CHECK-LABEL: func.func @logits
// CHECK-SAME: -> (!titan.tensor<f32[seq = 8, out = 2]> {titan.output = "logits"})
func.func @logits(%x: !x {titan.param = "x"}, %w: !w {titan.param = "w"})
    -> (!y {titan.output = "logits"}) attributes {titan.program = "logits"} {
  %y = titan.contract %x, %w : (!x, !w) -> !y
  return %y : !y
}

// -----

!t = !titan.tensor<f32[layers = 2, seq = 8]>
!s = !titan.tensor<f32[]>

// A parameter that does not influence the loss has a zero gradient and a warning.
// CHECK-LABEL: func.func @train
// CHECK: %[[Z:.*]] = titan.constant 0.0
// CHECK: %[[D:.*]] = titan.expand %[[Z]]
// CHECK: return %{{.*}}, %[[D]],
func.func @train(
    // expected-warning @below {{parameter "idle" does not reach the loss; its gradient is zero}}
    %idle: !t {titan.param = "idle", titan.stacked},
    %x: !t {titan.param = "x", titan.stacked}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %loss = titan.reduce sum %x : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f32[seq = 8]>
!s = !titan.tensor<f32[]>

// A repeat without trained values stays unchanged.
// CHECK-LABEL: func.func @train
// CHECK: titan.repeat
// CHECK-NOT: titan.repeat
func.func @train(%x: !t {titan.param = "x", titan.frozen}, %b: !t {titan.param = "b"})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 2> iter_args(%x) scanned() : (!t) -> !t {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t):
    %n = titan.exp %c : !t -> !t
    titan.yield %n : !t
  }
  %z = titan.mul %y, %b : (!t, !t) -> !t
  %loss = titan.reduce sum %z : !t -> !s
  return %loss : !s
}
