// RUN: titan-opt %s --titan-differentiate --mlir-print-debuginfo | FileCheck %s

!x = !titan.tensor<f32[seq = 8, in = 4]>
!w = !titan.tensor<f32[in = 4, out = 2]>
!y = !titan.tensor<f32[seq = 8, out = 2]>
!s = !titan.tensor<f32[]>

// A gradient has the name of its value and the line of its operation, for printed IR and emitted
// code.
// CHECK-LABEL: func.func @train
// CHECK: %d_h = titan.mul %{{.*}}, %{{.*}} loc(#[[DH:.*]])
// CHECK: %d_w = titan.contract {{.*}} loc(#[[DW:.*]])
// CHECK-DAG: #[[L3:.*]] = loc("model.titan":3:1)
// CHECK-DAG: #[[L4:.*]] = loc("model.titan":4:1)
// CHECK-DAG: #[[DW]] = loc("d_w"(#[[L3]]))
// CHECK-DAG: #[[DH]] = loc("d_h"(#[[L4]]))
func.func @train(%x: !x {titan.param = "x", titan.frozen} loc("x"("model.titan":1:1)),
                 %w: !w {titan.param = "w"} loc("w"("model.titan":2:1)))
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %h = titan.contract %x, %w : (!x, !w) -> !y loc("h"("model.titan":3:1))
  %e = titan.mul %h, %h : (!y, !y) -> !y loc("e"("model.titan":4:1))
  %t = titan.tanh %e : !y -> !y loc("t"("model.titan":5:1))
  %loss = titan.reduce sum %t : !y -> !s loc("loss"("model.titan":6:1))
  return %loss : !s
}
