// RUN: titan-opt %s --titan-differentiate --split-input-file | FileCheck %s

// Each case weights the result by a frozen %w, so that the result's cotangent is %w.

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// d(-x) = -dx.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%{{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[D:.*]] = titan.neg %[[W]]
// CHECK: return %{{.*}}, %[[D]] :
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.neg %x : !t -> !t
  %p = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %p : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// The derivative of exp is its result.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%{{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[Y:.*]] = titan.exp
// CHECK: %[[P:.*]] = titan.mul %[[Y]], %[[W]]
// CHECK: %[[D:.*]] = titan.mul %[[W]], %[[Y]]
// CHECK: return %{{.*}}, %[[D]] :
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.exp %x : !t -> !t
  %p = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %p : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// d ln x = dx / x (here x = e^p, so that it is positive).
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%{{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[X:.*]] = titan.exp
// CHECK: %[[DX:.*]] = titan.div %[[W]], %[[X]]
// CHECK: %[[D:.*]] = titan.mul %[[DX]], %[[X]]
// CHECK: return %{{.*}}, %[[D]] :
func.func @train(%p: !t {titan.param = "p"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %x = titan.exp %p : !t -> !t
  %y = titan.log %x : !t -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// d sqrt(x) = dx / 2 / sqrt(x).
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%{{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[Y:.*]] = titan.sqrt
// CHECK: %[[HALF:.*]] = titan.constant 5.0{{0*}}e-01
// CHECK: %[[N:.*]] = titan.mul %[[W]], %[[HALF]]
// CHECK: titan.div %[[N]], %[[Y]]
func.func @train(%p: !t {titan.param = "p"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %x = titan.exp %p : !t -> !t
  %y = titan.sqrt %x : !t -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// With y = x^(-1/2) the derivative is -1/2 y^3.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%{{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[Y:.*]] = titan.rsqrt
// CHECK: %[[Y2:.*]] = titan.mul %[[Y]], %[[Y]]
// CHECK: %[[Y3:.*]] = titan.mul %[[Y2]], %[[Y]]
// CHECK: %[[C:.*]] = titan.constant -5.0{{0*}}e-01
// CHECK: %[[S:.*]] = titan.mul %[[Y3]], %[[C]]
// CHECK: titan.mul %[[W]], %[[S]]
func.func @train(%p: !t {titan.param = "p"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %x = titan.exp %p : !t -> !t
  %y = titan.rsqrt %x : !t -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// With y = tanh x the derivative is 1 - y^2.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%{{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[Y:.*]] = titan.tanh
// CHECK: %[[Y2:.*]] = titan.mul %[[Y]], %[[Y]]
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK: %[[S:.*]] = titan.sub %[[ONE]], %[[Y2]]
// CHECK: titan.mul %[[W]], %[[S]]
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.tanh %x : !t -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// With y = sigmoid x the derivative is y (1 - y).
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%{{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[Y:.*]] = titan.sigmoid
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK: %[[N:.*]] = titan.sub %[[ONE]], %[[Y]]
// CHECK: %[[S:.*]] = titan.mul %[[Y]], %[[N]]
// CHECK: titan.mul %[[W]], %[[S]]
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.sigmoid %x : !t -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

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
// CHECK: %[[TIE:.*]] = titan.compare eq, %[[A]], %[[B]]
// CHECK: %[[HALF:.*]] = titan.mul %[[W]],
// CHECK: %[[SHARE:.*]] = titan.select %[[TIE]], %[[HALF]], %[[W]]
// CHECK: %[[WINS:.*]] = titan.compare ge, %[[A]], %[[B]]
// CHECK: %[[ZERO:.*]] = titan.constant 0.0
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
// CHECK: %[[C:.*]] = titan.compare gt
// CHECK: %[[ZERO:.*]] = titan.constant 0.0
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

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// The gradient of an expansion is a sum.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[W:[^:]*]]: {{[^:]*}} {titan.frozen
// CHECK: %[[D:.*]] = titan.reduce sum %[[W]] : <f64[seq = 3, embed = 2]> -> <f64[seq = 3]>
// CHECK: return %{{.*}}, %[[D]] :
func.func @train(%x: !row {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.expand %x : !row -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// A cotangent is cast back; integers have none.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[W:[^:]*]]: {{[^:]*}} {titan.frozen
// CHECK: %[[D:.*]] = titan.cast round_before_reduce %{{.*}} : <f64[seq = 3]> -> <f32[seq = 3]>
// CHECK: return %{{.*}}, %[[D]] :
func.func @train(%x: !titan.tensor<f32[seq = 3]> {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.cast %x : !titan.tensor<f32[seq = 3]> -> !t
  %i = titan.cast %x : !titan.tensor<f32[seq = 3]> -> !titan.tensor<i64[seq = 3]>
  %f = titan.cast %i : !titan.tensor<i64[seq = 3]> -> !t
  %z = titan.mul %y, %f : (!t, !t) -> !t
  %q = titan.mul %z, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// d erf(x) = 2 / sqrt(pi) e^(-x^2) dx.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: {{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[S:.*]] = titan.mul %[[X]], %[[X]]
// CHECK: %[[N:.*]] = titan.neg %[[S]]
// CHECK: %[[B:.*]] = titan.exp %[[N]]
// CHECK: %[[C:.*]] = titan.constant 1.1283791670955126
// CHECK: %[[D:.*]] = titan.mul %[[B]], %[[C]]
// CHECK: titan.mul %[[W]], %[[D]]
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.erf %x : !t -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// d sin(x) = cos(x) dx.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: {{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[C:.*]] = titan.cos %[[X]]
// CHECK: titan.mul %[[W]], %[[C]]
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.sin %x : !t -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// d cos(x) = -sin(x) dx.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: {{.*}}, %[[W:[^:]*]]: {{.*}} {titan.frozen
// CHECK: %[[C:.*]] = titan.sin %[[X]]
// CHECK: %[[D:.*]] = titan.mul %[[W]], %[[C]]
// CHECK: titan.neg %[[D]]
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.cos %x : !t -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}
