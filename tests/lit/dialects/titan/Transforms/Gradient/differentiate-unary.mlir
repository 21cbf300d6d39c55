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
// CHECK: %[[HALF:.*]] = titan.constant 5.0{{0*}}e-01
// CHECK: %[[Y:.*]] = titan.sqrt
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
// CHECK: %[[C:.*]] = titan.constant -5.0{{0*}}e-01
// CHECK: %[[Y:.*]] = titan.rsqrt
// CHECK: %[[Y2:.*]] = titan.mul %[[Y]], %[[Y]]
// CHECK: %[[Y3:.*]] = titan.mul %[[Y2]], %[[Y]]
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
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK: %[[Y:.*]] = titan.tanh
// CHECK: %[[Y2:.*]] = titan.mul %[[Y]], %[[Y]]
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
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK: %[[Y:.*]] = titan.sigmoid
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
// CHECK: %[[C:.*]] = titan.constant 1.1283791670955126
// CHECK: %[[S:.*]] = titan.mul %[[X]], %[[X]]
// CHECK: %[[N:.*]] = titan.neg %[[S]]
// CHECK: %[[B:.*]] = titan.exp %[[N]]
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

// floor(x) is constant between its jumps.
// CHECK-LABEL: func.func @train
// CHECK: %[[ZERO:.*]] = titan.constant 0.0
// CHECK: %[[NONE:.*]] = titan.expand %[[ZERO]]
// CHECK: return %{{[^,]*}}, %[[NONE]]
func.func @train(%x: !t {titan.param = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.floor %x : !t -> !t
  %loss = titan.reduce sum %y : !t -> !s
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
