// RUN: titan-opt %s --titan-decompose -split-input-file | FileCheck %s

// Attention: scores are capped, masked scores are minus infinity, sums and their logarithm are in f32.
// CHECK-LABEL: func.func @attend
// CHECK-NOT: titan.attention
// CHECK: %[[K:.*]] = titan.rename %arg1 : {{.*}}<bf16[seq.keys = 8 of seq, head = 4]>
// CHECK: %[[RAW:.*]] = titan.contract %arg0, %[[K]] : {{.*}}<f32[seq = 8, group = 2, seq.keys = 8 of seq]>
// CHECK: titan.tanh
// CHECK: titan.compare ge
// CHECK: titan.select
// CHECK: titan.compare lt
// CHECK: titan.compare gt
// CHECK: titan.compare eq, %arg3
// CHECK: %[[TOP:.*]] = titan.reduce max
// CHECK: titan.stop_gradient %[[TOP]]
// CHECK: %[[E:.*]] = titan.exp
// CHECK: %[[SUM:.*]] = titan.reduce sum %[[E]]
// CHECK: titan.log %[[SUM]]
// CHECK: %[[Y:.*]] = titan.contract {{.*}} -> !titan.tensor<f32[seq = 8, group = 2, head = 4]>
// CHECK: titan.cast %[[Y]] : {{.*}}<bf16[seq = 8, group = 2, head = 4]>
!q = !titan.tensor<bf16[seq = 8, group = 2, head = 4]>
!k = !titan.tensor<bf16[seq = 8, head = 4]>
!ids = !titan.tensor<i64[seq = 8]>
!lse = !titan.tensor<f32[seq = 8, group = 2]>
func.func @attend(%q: !q, %k: !k, %v: !k, %ids: !ids) -> (!q, !lse) {
  %y, %lse = titan.attention %q, %k, %v documents %ids along "seq" head "head"
      {scale = 0.5, causal, window = 4 : i64, soft_cap = 2.0} : (!q, !k, !k, !ids) -> (!q, !lse)
  return %y, %lse : !q, !lse
}

// -----

// Attention without a mask: there is no comparison.
// CHECK-LABEL: func.func @see_all
// CHECK-NOT: titan.compare
// CHECK: return
!q = !titan.tensor<f32[seq = 8, head = 4]>
func.func @see_all(%q: !q) -> !q {
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !titan.tensor<f32[seq = 8]>)
  return %y : !q
}

// -----

// Rotary positions: neighbours are rotated by angles computed in f64; the inverse has negative sines.
// CHECK-LABEL: func.func @turn_back
// CHECK: titan.split %arg0 dim "head" : {{.*}}<f32[seq = 8, head.pair = 2, head.two = 2]>
// CHECK-COUNT-2: titan.slice
// CHECK: titan.iota : <i64[seq = 8]>
// CHECK: titan.exp {{.*}}f64
// CHECK: %[[SIN:.*]] = titan.sin
// CHECK: %[[S:.*]] = titan.cast %[[SIN]] : {{.*}}<f32[seq = 8, head.pair = 2]>
// CHECK: titan.neg %[[S]]
// CHECK-COUNT-2: titan.pad
// CHECK: titan.merge {{.*}} dim "head"
!x = !titan.tensor<f32[seq = 8, head = 4]>
func.func @turn_back(%x: !x) -> !x {
  %r = titan.rotary %x along "seq" dim "head" {theta = 1.0e+04, interleaved, inverse} : !x -> !x
  return %r : !x
}

// -----

// Without `interleaved`, the halves are split first; `frequencies` are selected by pair.
// CHECK-LABEL: func.func @turn
// CHECK: titan.split %arg0 dim "head" : {{.*}}<f32[seq = 8, head.two = 2, head.pair = 2]>
// CHECK-COUNT-2: titan.select
// CHECK-NOT: titan.neg
!x = !titan.tensor<f32[seq = 8, head = 4]>
func.func @turn(%x: !x) -> !x {
  %r = titan.rotary %x along "seq" dim "head" {frequencies = array<f64: 1.0, 0.5>} : !x -> !x
  return %r : !x
}
