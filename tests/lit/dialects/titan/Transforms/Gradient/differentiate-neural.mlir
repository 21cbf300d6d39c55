// RUN: titan-opt %s --titan-differentiate --split-input-file | FileCheck %s

!t = !titan.tensor<f64[seq = 3, head = 4]>
!s = !titan.tensor<f64[]>

// A rotation's gradient is the rotation back, and the other way round.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[W:[^:]*]]: {{[^:]*}} {titan.frozen
// CHECK: %[[D:.*]] = titan.rotary %[[W]] along "seq" dim "head" {theta = 1.000000e+02 : f64}
// CHECK: titan.rotary %[[D]] along "seq" dim "head" {interleaved, inverse, theta = 1.000000e+02 : f64}
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.rotary %x along "seq" dim "head" {theta = 100.0, interleaved} : !t -> !t
  %z = titan.rotary %y along "seq" dim "head" {theta = 100.0, inverse} : !t -> !t
  %q = titan.mul %z, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!q = !titan.tensor<f64[seq = 3, kv = 2, group = 2, head = 4]>
!k = !titan.tensor<f64[seq = 3, kv = 2, head = 4]>
!l = !titan.tensor<f64[seq = 3, kv = 2, group = 2]>
!s = !titan.tensor<f64[]>

// Attention's gradient uses its result and log-sum-exp. Keys shared by a group receive the group's sum
// within the operation.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[Q:[^:]*]]: {{[^:]*}} {titan.param = "q"}, %[[K:[^:]*]]: {{[^:]*}} {titan.param = "k"}, %[[V:[^:]*]]: {{[^:]*}} {titan.param = "v"}, %[[W:[^:]*]]:
// CHECK: %[[Y:.*]]:2 = titan.attention
// CHECK: %[[D:.*]]:3 = titan.attention_grad %[[W]], %[[Q]], %[[K]], %[[V]], %[[Y]]#0, %[[Y]]#1 along "seq" head "head" {causal, scale = 5.000000e-01 : f64}
// CHECK: return %{{.*}}, %[[D]]#0, %[[D]]#1, %[[D]]#2
func.func @train(%q: !q {titan.param = "q"}, %k: !k {titan.param = "k"}, %v: !k {titan.param = "v"}, %w: !q {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y, %lse = titan.attention %q, %k, %v along "seq" head "head" {scale = 0.5, causal} : (!q, !k, !k) -> (!q, !l)
  %p = titan.mul %y, %w : (!q, !q) -> !q
  %loss = titan.reduce sum %p : !q -> !s
  return %loss : !s
}
