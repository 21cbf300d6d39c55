// RUN: titan-opt %s --titan-differentiate --split-input-file | FileCheck %s

!t = !titan.tensor<f64[seq = 3, head = 4]>
!s = !titan.tensor<f64[]>

// The gradient of a rotation is the inverse rotation with the same frequencies, and vice versa.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[W:[^:]*]]: {{[^:]*}} {titan.frozen
// CHECK: %[[D:.*]] = titan.rotary %[[W]] along "seq" dim "head" {frequencies = array<f64: 1.000000e+00, 5.000000e-01>}
// CHECK: titan.rotary %[[D]] along "seq" dim "head" {interleaved, inverse, theta = 1.000000e+02 : f64}
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.rotary %x along "seq" dim "head" {theta = 100.0, interleaved} : !t -> !t
  %z = titan.rotary %y along "seq" dim "head" {frequencies = array<f64: 1.0, 0.5>, inverse} : !t -> !t
  %q = titan.mul %z, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!q = !titan.tensor<f64[seq = 3, kv = 2, group = 2, head = 4]>
!k = !titan.tensor<f64[seq = 3, kv = 2, head = 4]>
!l = !titan.tensor<f64[seq = 3, kv = 2, group = 2]>
!s = !titan.tensor<f64[]>

// The gradient of attention uses its result and log-sum-exp. Keys shared by a group receive the sum
// over the group within the operation.
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

// -----

!q = !titan.tensor<f64[seq = 3, head = 4]>
!l = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// A cotangent of the log-sum-exp reaches the scores, also alone; the mask remains.
// CHECK-LABEL: func.func @train
// CHECK: %[[Y:.*]]:2 = titan.attention
// CHECK: titan.attention_grad {{.*}}, %[[Y]]#0, %[[Y]]#1 lse_cotangent %{{.*}} along "seq" head "head" {causal, scale = 5.000000e-01 : f64, soft_cap = 2.000000e+00 : f64, window = 2 : i64}
func.func @train(%q: !q {titan.param = "q"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5, causal, window = 2 : i64, soft_cap = 2.0} : (!q, !q, !q) -> (!q, !l)
  %loss = titan.reduce sum %lse : !l -> !s
  return %loss : !s
}

// -----

!x = !titan.tensor<f64[seq = 3, experts = 4]>
!v = !titan.tensor<f64[seq = 3, chosen = 2]>
!i = !titan.tensor<i64[seq = 3, chosen = 2]>
!s = !titan.tensor<f64[]>

// The selected elements receive the cotangents; a cumulative sum reverses its direction.
// CHECK-LABEL: func.func @train
// CHECK: %[[I:.*]]:2 = titan.top_k
// CHECK: %[[D:.*]] = titan.scatter %{{.*}} along "experts" at %[[I]]#1
// CHECK: titan.cumulative_sum %[[D]] along "seq" {reverse}
func.func @train(%x: !x {titan.param = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %sums = titan.cumulative_sum %x along "seq" : !x -> !x
  %values, %indices = titan.top_k %sums along "experts" : !x -> !v, !i
  %square = titan.mul %values, %values : (!v, !v) -> !v
  %loss = titan.reduce sum %square : !v -> !s
  return %loss : !s
}
