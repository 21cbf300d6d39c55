// RUN: titan-opt --dist-assign-shardings --dist-propagate --dist-insert-reshards %s | FileCheck %s

// The axis rules determine the order of an axis, and propagation preserves it.
dist.mesh @mesh [#dist.axis<cp = 2>]
// CHECK: dist.axis_rules "cp" shards ["seq"] fallback [] stores [] headtail
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] headtail

!x = !titan.tensor<f32[batch = 2, seq = 8]>

// CHECK-LABEL: func.func @kept
// CHECK-SAME: %arg0: !titan.tensor<f32[batch = 2, seq = 8], <[{}, {cp headtail}]>>
func.func @kept(%x: !x {titan.input = "x"}) -> (!x {titan.output = "y"}) {
  // CHECK: titan.tanh %arg0 : {{.*}} -> {{.*}}<[{}, {cp headtail}]>>
  %0 = titan.tanh %x : !x -> !x
  // A cumulative sum needs the complete sequence in order, so the operand is gathered.
  // CHECK: dist.reshard {{.*}}<[{}, {cp headtail}]>> -> {{.*}}<[{}, {}]>>
  // CHECK: titan.cumulative_sum
  %1 = titan.cumulative_sum %0 along "seq" : !x -> !x
  return %1 : !x
}

// A dimension that cannot be divided into four equal blocks is not sharded.
// CHECK-LABEL: func.func @odd
// CHECK-SAME: %arg0: !titan.tensor<f32[seq = 6], <[{}]>>
func.func @odd(%x: !titan.tensor<f32[seq = 6]> {titan.input = "x"}) {
  return
}

// An operand in another order is resharded to the order of the axis.
// CHECK-LABEL: func.func @other
func.func @other(%x: !titan.tensor<f32[seq = 8], <[{cp}]>>) {
  // CHECK: %[[R:.*]] = dist.reshard %arg0 : {{.*}}<[{cp}]>> -> {{.*}}<[{cp headtail}]>>
  // CHECK: titan.tanh %[[R]]
  %0 = titan.tanh %x : !titan.tensor<f32[seq = 8], <[{cp}]>> -> !titan.tensor<f32[seq = 8]>
  return
}
