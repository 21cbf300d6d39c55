// RUN: titan-opt --titan-recompute-rows %s | FileCheck %s
// RUN: titan-opt --titan-recompute-rows --titan-fuse-rows %s | FileCheck %s --check-prefix=FUSED

!rows = !titan.tensor<f32[seq = 32]>
!logits = !titan.tensor<f32[seq = 32, vocab = 16384]>
!short = !titan.tensor<f32[seq = 32, embed = 128]>

// A softmax over rows that exceed the row buffers: each loop recomputes the values of the previous loop.
// All loops are one region, which reads the logits three times.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:[a-z0-9]*]]:
// CHECK: %[[TOP:.*]] = titan.reduce max %[[X]]
// CHECK: %[[S:.*]] = titan.sub %[[X]], %[[TOP]]
// CHECK: %[[E:.*]] = titan.exp %[[S]]
// CHECK: %[[N:.*]] = titan.reduce sum %[[E]]
// CHECK: %[[S2:.*]] = titan.sub %[[X]], %[[TOP]]
// CHECK: %[[E2:.*]] = titan.exp %[[S2]]
// CHECK: titan.div %[[E2]], %[[N]]
// FUSED-LABEL: func.func @softmax(
// FUSED-COUNT-1: titan.fused
// FUSED-NOT: titan.fused
// FUSED: return
func.func @softmax(%x: !logits) -> !logits {
  %top = titan.reduce max %x : !logits -> !rows
  %s = titan.sub %x, %top : (!logits, !rows) -> !logits
  %e = titan.exp %s : !logits -> !logits
  %n = titan.reduce sum %e : !logits -> !rows
  %p = titan.div %e, %n : (!logits, !rows) -> !logits
  return %p : !logits
}

// The derivative of a bound does not depend on a reduction, but only the last loop needs it: that loop
// recomputes the bounded logits.
// CHECK-LABEL: func.func @bounded(
// CHECK-SAME: %[[X:[a-z0-9]*]]:
// CHECK: titan.tanh %[[X]]
// CHECK: titan.tanh %[[X]]
// CHECK: %[[T:.*]] = titan.tanh %[[X]]
// CHECK: titan.mul %[[T]], %[[T]]
// FUSED-LABEL: func.func @bounded(
// FUSED-COUNT-1: titan.fused
// FUSED-NOT: titan.fused
// FUSED: return
func.func @bounded(%x: !logits) -> !logits {
  %t = titan.tanh %x : !logits -> !logits
  %top = titan.reduce max %t : !logits -> !rows
  %s = titan.sub %t, %top : (!logits, !rows) -> !logits
  %n = titan.reduce sum %s : !logits -> !rows
  %square = titan.mul %t, %t : (!logits, !logits) -> !logits
  %slope = titan.neg %square : !logits -> !logits
  %d = titan.mul %slope, %n : (!logits, !rows) -> !logits
  return %d : !logits
}

// Short rows fit into row buffers.
// CHECK-LABEL: func.func @short
// CHECK-COUNT-1: titan.exp
// CHECK-NOT: titan.exp
// CHECK: return
func.func @short(%x: !short) -> !short {
  %e = titan.exp %x : !short -> !short
  %n = titan.reduce sum %e : !short -> !rows
  %p = titan.div %e, %n : (!short, !rows) -> !short
  return %p : !short
}

// A gather of one element from a recomputed row becomes a select and a sum over the row.
// CHECK-LABEL: func.func @pick(
// CHECK-SAME: %[[X:[a-z0-9]*]]: {{.*}}, %[[AT:[a-z0-9]*]]:
// CHECK: %[[E:.*]] = titan.exp %[[X]]
// CHECK: %[[V:.*]] = titan.iota : <i64[vocab = 16384]>
// CHECK: %[[HERE:.*]] = titan.compare eq, %[[V]], %[[AT]]
// CHECK: %[[ZERO:.*]] = titan.constant 0.0
// CHECK: %[[ONLY:.*]] = titan.select %[[HERE]], %[[E]], %[[ZERO]]
// CHECK: titan.reduce sum %[[ONLY]]
// CHECK-NOT: titan.gather
func.func @pick(%x: !logits, %at: !titan.tensor<i64[seq = 32]>) -> !rows {
  %e = titan.exp %x : !logits -> !logits
  %t = titan.gather %e along "vocab" at %at : (!logits, !titan.tensor<i64[seq = 32]>) -> !rows
  return %t : !rows
}

// A gather from a tensor in memory does not change.
// CHECK-LABEL: func.func @read
// CHECK: titan.gather
func.func @read(%x: !logits, %at: !titan.tensor<i64[seq = 32]>) -> !rows {
  %t = titan.gather %x along "vocab" at %at : (!logits, !titan.tensor<i64[seq = 32]>) -> !rows
  return %t : !rows
}

// A returned value is in memory anyway. A recomputation that reads two tensors instead of one is rejected.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: titan.exp
// CHECK-NOT: titan.exp
// CHECK: return
func.func @kept(%x: !logits, %y: !logits) -> (!logits, !logits, !logits) {
  %e = titan.exp %x : !logits -> !logits
  %n = titan.reduce sum %e : !logits -> !rows
  %p = titan.div %e, %n : (!logits, !rows) -> !logits
  %z = titan.mul %x, %y : (!logits, !logits) -> !logits
  %f = titan.exp %z : !logits -> !logits
  %m = titan.reduce sum %f : !logits -> !rows
  %q = titan.div %f, %m : (!logits, !rows) -> !logits
  return %e, %p, %q : !logits, !logits, !logits
}
