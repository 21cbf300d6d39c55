// RUN: titan-opt %s | titan-opt | FileCheck %s

!q = !titan.tensor<f32[seq = 8, kv_heads = 2, group = 3, head = 4]>
!k = !titan.tensor<f32[seq = 8, kv_heads = 2, head = 4]>
!lse = !titan.tensor<f32[seq = 8, kv_heads = 2, group = 3]>

// Rotary embeddings with a frequency base and a pairing.
// CHECK-LABEL: func.func @rotary
func.func @rotary(%q: !q) -> !q {
  // CHECK: titan.rotary %{{.*}} along "seq" dim "head" {interleaved, theta = 1.000000e+04 : f64}
  %0 = titan.rotary %q along "seq" dim "head" {theta = 1.0e4, interleaved} : !q -> !q
  // CHECK: titan.rotary {{.*}} {inverse, theta
  %1 = titan.rotary %0 along "seq" dim "head" {theta = 1.0e4, inverse} : !q -> !q
  // CHECK: titan.rotary {{.*}} {frequencies = array<f64: 1.000000e+00, 2.500000e-01>}
  %2 = titan.rotary %1 along "seq" dim "head" {frequencies = array<f64: 1.0, 0.25>} : !q -> !q
  return %2 : !q
}

// Keys and values are repeated along dimensions that only queries have.
// CHECK-LABEL: func.func @attention
func.func @attention(%q: !q, %k: !k, %v: !k) -> (!q, !k, !k) {
  // CHECK: titan.attention %{{.*}}, %{{.*}}, %{{.*}} along "seq" head "head" {causal, scale = 5.000000e-01 : f64}
  %y, %lse = titan.attention %q, %k, %v along "seq" head "head" {scale = 0.5, causal} : (!q, !k, !k) -> (!q, !lse)
  // CHECK: titan.attention_grad
  %dq, %dk, %dv = titan.attention_grad %y, %q, %k, %v, %y, %lse along "seq" head "head" {scale = 0.5, causal} : (!q, !q, !k, !k, !q, !lse) -> (!q, !k, !k)
  return %dq, %dk, %dv : !q, !k, !k
}

// A mask of several conditions; values with another head dimension.
// CHECK-LABEL: func.func @masks
func.func @masks(%q: !q, %k: !k, %v: !titan.tensor<f32[seq = 8, kv_heads = 2, wide = 6]>, %ids: !titan.tensor<i64[seq = 8]>, %dl: !lse) {
  // CHECK: titan.attention %{{.*}}, %{{.*}}, %{{.*}} documents %{{.*}} along "seq" head "head" {causal, scale = 5.000000e-01 : f64, soft_cap = 3.000000e+01 : f64, window = 4 : i64}
  %y, %lse = titan.attention %q, %k, %v documents %ids along "seq" head "head" {scale = 0.5, causal, window = 4 : i64, soft_cap = 30.0}
      : (!q, !k, !titan.tensor<f32[seq = 8, kv_heads = 2, wide = 6]>, !titan.tensor<i64[seq = 8]>)
      -> (!titan.tensor<f32[seq = 8, kv_heads = 2, group = 3, wide = 6]>, !lse)
  // CHECK: titan.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} lse_cotangent %{{.*}} documents %{{.*}} along
  %dq, %dk, %dv = titan.attention_grad %y, %q, %k, %v, %y, %lse lse_cotangent %dl documents %ids along "seq" head "head" {scale = 0.5}
      : (!titan.tensor<f32[seq = 8, kv_heads = 2, group = 3, wide = 6]>, !q, !k, !titan.tensor<f32[seq = 8, kv_heads = 2, wide = 6]>,
         !titan.tensor<f32[seq = 8, kv_heads = 2, group = 3, wide = 6]>, !lse, !lse, !titan.tensor<i64[seq = 8]>)
      -> (!q, !k, !titan.tensor<f32[seq = 8, kv_heads = 2, wide = 6]>)
  return
}

!qs = !titan.tensor<f32[seq = 8, head = 4], <[{cp}, {}]>>
!lses = !titan.tensor<f32[seq = 8], <[{cp}]>>

// A step of a ring.
// CHECK-LABEL: func.func @step
func.func @step(%q: !qs, %step: !titan.tensor<i64[]>, %ids: !titan.tensor<i64[seq = 8]>) {
  // CHECK: titan.attention %arg0, %arg0, %arg0 documents %arg2 ring %arg1 over ["cp"] along "seq" head "head" {scale = 5.000000e-01 : f64}
  %y, %lse = titan.attention %q, %q, %q documents %ids ring %step over ["cp"] along "seq" head "head" {scale = 0.5}
      : (!qs, !qs, !qs, !titan.tensor<i64[seq = 8]>, !titan.tensor<i64[]>) -> (!qs, !lses)
  // CHECK: titan.attention_grad %arg0, %arg0, %arg0, %arg0, %{{.*}}, %{{.*}} ring %arg1 over ["cp"] along "seq" head "head"
  %dq, %dk, %dv = titan.attention_grad %q, %q, %q, %q, %y, %lse ring %step over ["cp"] along "seq" head "head" {scale = 0.5}
      : (!qs, !qs, !qs, !qs, !qs, !lses, !titan.tensor<i64[]>) -> (!qs, !qs, !qs)
  return
}

// A chunk of queries and all keys. The chunk begins at one position, or at a position per head.
// CHECK-LABEL: func.func @chunk
func.func @chunk(%q: !titan.tensor<f32[seq = 2, kv_heads = 2, head = 4]>, %k: !k, %p: !titan.tensor<i64[]>,
                 %each: !titan.tensor<i64[kv_heads = 2]>) {
  // CHECK: titan.attention %{{.*}}, %{{.*}}, %{{.*}} from %{{.*}} along "seq" head "head" {causal, scale = 5.000000e-01 : f64}
  %y, %lse = titan.attention %q, %k, %k from %p along "seq" head "head" {scale = 0.5, causal}
      : (!titan.tensor<f32[seq = 2, kv_heads = 2, head = 4]>, !k, !k, !titan.tensor<i64[]>)
      -> (!titan.tensor<f32[seq = 2, kv_heads = 2, head = 4]>, !titan.tensor<f32[seq = 2, kv_heads = 2]>)
  // CHECK: titan.rotary %{{.*}} along "seq" dim "head" from %{{.*}} : !titan.tensor<i64[kv_heads = 2]>
  %r = titan.rotary %q along "seq" dim "head" from %each : !titan.tensor<i64[kv_heads = 2]> {theta = 100.0}
      : !titan.tensor<f32[seq = 2, kv_heads = 2, head = 4]> -> !titan.tensor<f32[seq = 2, kv_heads = 2, head = 4]>
  // CHECK: titan.attention {{.*}}!titan.tensor<i64[kv_heads = 2]>
  %z, %lse2 = titan.attention %r, %k, %k from %each along "seq" head "head" {scale = 0.5, causal}
      : (!titan.tensor<f32[seq = 2, kv_heads = 2, head = 4]>, !k, !k, !titan.tensor<i64[kv_heads = 2]>)
      -> (!titan.tensor<f32[seq = 2, kv_heads = 2, head = 4]>, !titan.tensor<f32[seq = 2, kv_heads = 2]>)
  return
}
