// RUN: titan-opt %s --titan-add-optimizer --split-input-file | FileCheck %s

!t = !titan.tensor<f32[seq = 8]>
!u = !titan.tensor<f32[layers = 2, seq = 8]>
!s = !titan.tensor<f32[]>

// Moments and scalars become arguments, in the order of the parameters; new values become results that
// say which argument they replace. The frozen parameter has neither. The norm is that of all gradients
// together, and the gradients themselves are returned as they were before clipping.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[A:[^:]*]]: !titan.tensor<f32[seq = 8]> {titan.decay = 1.000000e-01 : f64, titan.param = "a"}
// CHECK-SAME: %{{[^:]*}}: {{[^:]*}} {titan.frozen, titan.param = "f"}
// CHECK-SAME: %[[B:[^:]*]]: !titan.tensor<f32[layers = 2, seq = 8]> {titan.lr_scale = 2.5{{0*}}e-01 : f64, titan.param = "b", titan.stacked}
// CHECK-SAME: %[[MA:[^:]*]]: !titan.tensor<f32[seq = 8]> {titan.state = "m.a"}
// CHECK-SAME: %[[VA:[^:]*]]: !titan.tensor<f32[seq = 8]> {titan.state = "v.a"}
// CHECK-SAME: %[[MB:[^:]*]]: !titan.tensor<f32[layers = 2, seq = 8]> {titan.stacked, titan.state = "m.b"}
// CHECK-SAME: %[[VB:[^:]*]]: !titan.tensor<f32[layers = 2, seq = 8]> {titan.stacked, titan.state = "v.b"}
// CHECK-SAME: %[[LR:[^:]*]]: !titan.tensor<f32[]> {titan.scalar = "lr"}
// CHECK-SAME: %[[STEP:[^:]*]]: !titan.tensor<f32[]> {titan.scalar = "step"})
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "grad_norm"},
// CHECK-SAME: {titan.gradient = "a"}, !titan.tensor<f32[layers = 2, seq = 8]> {titan.gradient = "b", titan.stacked},
// CHECK-SAME: {titan.updates = 0 : i64}, {{[^{]*}}{titan.updates = 3 : i64}, {{[^{]*}}{titan.updates = 4 : i64},
// CHECK-SAME: {titan.stacked, titan.updates = 2 : i64}, {{[^{]*}}{titan.stacked, titan.updates = 5 : i64}, {{[^{]*}}{titan.stacked, titan.updates = 6 : i64})
// CHECK: %[[DA:.*]] = titan.exp
// CHECK: %[[DB:.*]] = titan.tanh
// CHECK: %[[QA:.*]] = titan.contract %[[DA]], %[[DA]] : {{.*}} -> !titan.tensor<f32[]>
// CHECK: %[[QB:.*]] = titan.contract %[[DB]], %[[DB]] : {{.*}} -> !titan.tensor<f32[]>
// CHECK: %[[Q:.*]] = titan.add %[[QA]], %[[QB]]
// CHECK: %[[NORM:.*]] = titan.sqrt %[[Q]]
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK: %[[TINY:.*]] = titan.constant 9.9999999999999995E-7
// CHECK: %[[SUM:.*]] = titan.add %[[NORM]], %[[TINY]]
// CHECK: %[[CLIP:.*]] = titan.constant 2.5
// CHECK: %[[RATIO:.*]] = titan.div %[[CLIP]], %[[SUM]]
// CHECK: %[[SCALE:.*]] = titan.minimum %[[ONE]], %[[RATIO]]
// CHECK: %new_a, %{{.*}}, %{{.*}} = titan.adamw %[[A]], %[[DA]], %[[MA]], %[[VA]], %[[LR]], %[[STEP]], %[[SCALE]] {beta1 = 9.0{{0*}}e-01 : f64, beta2 = 0.9{{[0-9]*}} : f64, decay = 1.0{{0*}}e-01 : f64, eps = {{[^}]*}}}
// CHECK: %[[QUARTER:.*]] = titan.constant 2.5{{0*}}e-01
// CHECK: %[[SLOWER:.*]] = titan.mul %[[LR]], %[[QUARTER]]
// CHECK: %new_b, %{{.*}}, %{{.*}} = titan.adamw %[[B]], %[[DB]], %[[MB]], %[[VB]], %[[SLOWER]], %[[STEP]], %[[SCALE]] {{{.*}}decay = 0.0{{0*}}e+00 : f64
// CHECK: return %[[LOSS:.*]], %[[NORM]], %[[LOSS]], %[[DA]], %[[DB]], %new_a,
func.func @train(%a: !t {titan.param = "a", titan.decay = 0.1 : f64}, %f: !t {titan.param = "f", titan.frozen},
                 %b: !u {titan.param = "b", titan.stacked, titan.lr_scale = 0.25 : f64})
    -> (!s {titan.output = "loss"}, !t {titan.gradient = "a"}, !u {titan.gradient = "b", titan.stacked})
    attributes {titan.program = "train",
                titan.optimizer = {name = "adamw", beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, clip = 2.5}} {
  %loss = titan.reduce sum %a : !t -> !s
  %da = titan.exp %a : !t -> !t
  %db = titan.tanh %b : !u -> !u
  return %loss, %da, %db : !s, !t, !u
}

// -----

!t = !titan.tensor<f64[seq = 8]>
!h = !titan.tensor<f32[seq = 8]>
!s = !titan.tensor<f64[]>

// Without clipping the scale is one, but the norm is still reported. Scalars have the widest
// gradient's element type, and the norm is summed in it.
// CHECK-LABEL: func.func @train
// CHECK-SAME: !titan.tensor<f64[]> {titan.scalar = "lr"}
// CHECK: %[[QA:.*]] = titan.contract {{.*}} -> !titan.tensor<f64[]>
// CHECK: %[[QB:.*]] = titan.contract {{.*}}<f32[{{.*}} -> !titan.tensor<f64[]>
// CHECK: titan.add %[[QA]], %[[QB]]
// CHECK: titan.sqrt
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK-NOT: titan.minimum
// CHECK: titan.adamw {{.*}}, %[[ONE]] {
func.func @train(%a: !t {titan.param = "a"}, %b: !h {titan.param = "b"})
    -> (!s {titan.output = "loss"}, !t {titan.gradient = "a"}, !h {titan.gradient = "b"})
    attributes {titan.program = "train",
                titan.optimizer = {name = "adamw", beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, clip = 0.0}} {
  %loss = titan.reduce sum %a : !t -> !s
  return %loss, %a, %b : !s, !t, !h
}

// -----

!t = !titan.tensor<f32[seq = 8]>
!s = !titan.tensor<f32[]>

// A parameter may have betas of its own; the others have the optimizer's.
// CHECK-LABEL: func.func @train
// CHECK: %new_a, %{{.*}}, %{{.*}} = titan.adamw {{.*}} {beta1 = 5.0{{0*}}e-01 : f64, beta2 = 7.5{{0*}}e-01 : f64,
// CHECK: %new_b, %{{.*}}, %{{.*}} = titan.adamw {{.*}} {beta1 = 9.0{{0*}}e-01 : f64, beta2 = 0.9{{[0-9]*}} : f64,
func.func @train(%a: !t {titan.param = "a", titan.betas = array<f64: 0.5, 0.75>}, %b: !t {titan.param = "b"})
    -> (!s {titan.output = "loss"}, !t {titan.gradient = "a"}, !t {titan.gradient = "b"})
    attributes {titan.program = "train",
                titan.optimizer = {name = "adamw", beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, clip = 0.0}} {
  %loss = titan.reduce sum %a : !t -> !s
  return %loss, %a, %b : !s, !t, !t
}

// -----

!t = !titan.tensor<f64[seq = 8]>
!s = !titan.tensor<f32[]>
!d = !titan.tensor<f64[]>
!i = !titan.tensor<i64[]>

// What is not finite spoils the scale, by differences that are else 0, and a step with a scale that is not a
// number leaves parameters, moments and buffers as they are.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[COUNT:[^:]*]]: !titan.tensor<i64[]> {titan.buffer, titan.param = "count"}
// CHECK: %[[LOSS:.*]] = titan.cast
// CHECK: %[[NEXT:.*]] = titan.add %[[COUNT]], %[[COUNT]]
// CHECK: %[[NORM:.*]] = titan.sqrt
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK: %[[WIDE:.*]] = titan.cast %[[LOSS]]
// CHECK: %[[A:.*]] = titan.sub %[[NORM]], %[[NORM]]
// CHECK: %[[S:.*]] = titan.add %[[ONE]], %[[A]]
// CHECK: %[[B:.*]] = titan.sub %[[WIDE]], %[[WIDE]]
// CHECK: %[[SCALE:.*]] = titan.add %[[S]], %[[B]]
// CHECK: %[[APPLIED:.*]] = titan.compare eq, %[[SCALE]], %[[SCALE]]
// CHECK: %[[KEPT:.*]] = titan.select %[[APPLIED]], %[[NEXT]], %[[COUNT]]
// CHECK: titan.adamw {{.*}}, %[[SCALE]] {{{.*}}skips_nan}
// CHECK: return %[[LOSS]], %[[NORM]], %[[LOSS]], {{.*}}, %[[KEPT]],
func.func @train(%a: !t {titan.param = "a"}, %count: !i {titan.param = "count", titan.buffer})
    -> (!s {titan.output = "loss"}, !t {titan.gradient = "a"}, !i {titan.updates = 1})
    attributes {titan.program = "train",
                titan.optimizer = {name = "adamw", beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, clip = 0.0,
                                   skip_nonfinite}} {
  %sum = titan.reduce sum %a : !t -> !d
  %loss = titan.cast %sum : !d -> !s
  %next = titan.add %count, %count : (!i, !i) -> !i
  return %loss, %a, %next : !s, !t, !i
}
