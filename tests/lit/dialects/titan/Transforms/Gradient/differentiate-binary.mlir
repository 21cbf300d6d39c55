// RUN: titan-opt %s --titan-differentiate --split-input-file | FileCheck %s

// Each case weights the result by a frozen %w, so that the result's cotangent is %w.

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// A sum passes the cotangent on; the operand that is expanded along `embed` receives the sum over
// it.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[W:[^:]*]]: {{[^:]*}} {titan.frozen
// CHECK: %[[DB:.*]] = titan.reduce sum %[[W]] : <f64[seq = 3, embed = 2]> -> <f64[seq = 3]>
// CHECK: return %{{.*}}, %[[W]], %[[DB]] :
func.func @train(%a: !t {titan.param = "a"}, %b: !row {titan.param = "b"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.add %a, %b : (!t, !row) -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// The subtrahend receives the negated cotangent.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[W:[^:]*]]: {{[^:]*}} {titan.frozen
// CHECK: %[[N:.*]] = titan.neg %[[W]]
// CHECK: %[[DB:.*]] = titan.reduce sum %[[N]]
// CHECK: return %{{.*}}, %[[W]], %[[DB]] :
func.func @train(%a: !t {titan.param = "a"}, %b: !row {titan.param = "b"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.sub %a, %b : (!t, !row) -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// Each factor receives the cotangent times the other factor.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[A:[^:]*]]: {{[^:]*}} {titan.param = "a"}, %[[B:[^:]*]]: {{[^:]*}} {titan.param = "b"}, %[[W:[^:]*]]:
// CHECK: %[[DA:.*]] = titan.mul %[[W]], %[[B]]
// CHECK: %[[P:.*]] = titan.mul %[[W]], %[[A]]
// CHECK: %[[DB:.*]] = titan.reduce sum %[[P]]
// CHECK: return %{{.*}}, %[[DA]], %[[DB]] :
func.func @train(%a: !t {titan.param = "a"}, %b: !row {titan.param = "b"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.mul %a, %b : (!t, !row) -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// With z = x / y, dz = dx / y - z / y dy; the two share one division.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[A:[^:]*]]: {{[^:]*}} {titan.param = "a"}, %[[B:[^:]*]]: {{[^:]*}} {titan.param = "b"}, %[[W:[^:]*]]:
// CHECK: %[[Z:.*]] = titan.div %[[A]], %[[B]]
// CHECK: %[[DA:.*]] = titan.div %[[W]], %[[B]]
// CHECK-NOT: titan.div
// CHECK: %[[P:.*]] = titan.mul %[[DA]], %[[Z]]
// CHECK: %[[N:.*]] = titan.neg %[[P]]
// CHECK: %[[DB:.*]] = titan.reduce sum %[[N]]
// CHECK: return %{{.*}}, %[[DA]], %[[DB]] :
func.func @train(%a: !t {titan.param = "a"}, %b: !row {titan.param = "b"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.div %a, %b : (!t, !row) -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!u = !titan.tensor<f64[embed = 2, seq = 3]>
!s = !titan.tensor<f64[]>

// An operand with another order of dimensions gets a cotangent in that order.
// CHECK-LABEL: func.func @train
// CHECK: %[[DB:.*]] = titan.expand %{{.*}} : <f64[seq = 3, embed = 2]> -> <f64[embed = 2, seq = 3]>
// CHECK: return %{{.*}}, %{{.*}}, %[[DB]] :
func.func @train(%a: !t {titan.param = "a"}, %b: !u {titan.param = "b"})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.mul %a, %b : (!t, !u) -> !t
  %e = titan.exp %y : !t -> !t
  %loss = titan.reduce sum %e : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// The greater operand receives the cotangent; at a tie each receives one half.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[A:[^:]*]]: {{[^:]*}} {titan.param = "a"}, %[[B:[^:]*]]: {{[^:]*}} {titan.param = "b"}, %[[W:[^:]*]]:
// CHECK: %[[ZERO:.*]] = titan.constant 0.0
// CHECK: %[[TIE:.*]] = titan.compare eq, %[[A]], %[[B]]
// CHECK: %[[HALF:.*]] = titan.mul %[[W]],
// CHECK: %[[SHARE:.*]] = titan.select %[[TIE]], %[[HALF]], %[[W]]
// CHECK: %[[WINS:.*]] = titan.compare ge, %[[A]], %[[B]]
// CHECK: %[[DA:.*]] = titan.select %[[WINS]], %[[SHARE]], %[[ZERO]]
// CHECK: titan.compare ge, %[[B]], %[[A]]
// CHECK: titan.select %{{.*}}, %[[SHARE]], %[[ZERO]]
// CHECK: %[[DB:.*]] = titan.reduce sum
// CHECK: return %{{.*}}, %[[DA]], %[[DB]] :
func.func @train(%a: !t {titan.param = "a"}, %b: !row {titan.param = "b"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.maximum %a, %b : (!t, !row) -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!s = !titan.tensor<f64[]>

// The lesser operand receives the cotangent; both halves of min(x, x) go to x.
// CHECK-LABEL: func.func @train
// CHECK: titan.compare le,
// CHECK: return
func.func @train(%a: !t {titan.param = "a"}, %b: !t {titan.param = "b"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %m = titan.minimum %a, %b : (!t, !t) -> !t
  %y = titan.minimum %m, %a : (!t, !t) -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// A select passes the cotangent to the selected operand; a comparison has no gradient.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[W:[^:]*]]: {{[^:]*}} {titan.frozen
// CHECK: %[[ZERO:.*]] = titan.constant 0.0
// CHECK: %[[C:.*]] = titan.compare gt
// CHECK: %[[DA:.*]] = titan.select %[[C]], %[[W]], %[[ZERO]]
// CHECK: %[[OTHER:.*]] = titan.select %[[C]], %[[ZERO]], %[[W]]
// CHECK: %[[DB:.*]] = titan.reduce sum %[[OTHER]]
// CHECK: return %{{.*}}, %[[DA]], %[[DB]] :
func.func @train(%a: !t {titan.param = "a"}, %b: !row {titan.param = "b"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %c = titan.compare gt, %a, %b : (!t, !row) -> !titan.tensor<i1[seq = 3, embed = 2]>
  %y = titan.select %c, %a, %b : (!titan.tensor<i1[seq = 3, embed = 2]>, !t, !row) -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}
