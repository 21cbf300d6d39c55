// RUN: titan-opt %s --titan-differentiate --titan-add-optimizer | FileCheck %s

!w = !titan.tensor<f32[in = 4, out = 2]>
!wn = !titan.tensor<bf16[in = 4, out = 2]>
!b = !titan.tensor<f32[out = 2]>
!bn = !titan.tensor<bf16[out = 2]>
!x = !titan.tensor<bf16[seq = 8, in = 4]>
!y = !titan.tensor<bf16[seq = 8, out = 2]>
!f = !titan.tensor<f32[seq = 8, out = 2]>
!s = !titan.tensor<f32[]>

// Gradients of parameters are made in the declared type, straight from the products and sums;
// cotangents of activations have their values' types; optimizer state has its own.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[M:[^:]*]]: !titan.tensor<bf16[in = 4, out = 2]> {titan.state = "m.w"}
// CHECK-SAME: -> ({{.*}}, !titan.tensor<f64[in = 4, out = 2]> {titan.gradient = "w"}, !titan.tensor<f64[out = 2]> {titan.gradient = "b"}
// CHECK: %[[DY:.*]] = titan.cast %{{.*}} : <f32[seq = 8, out = 2]> -> <bf16[seq = 8, out = 2]>
// CHECK-DAG: titan.reduce sum %[[DY]] : <bf16[seq = 8, out = 2]> -> <f64[out = 2]>
// CHECK-DAG: titan.contract %{{.*}}, %[[DY]] {titan.part = "wgrad"} : (!titan.tensor<bf16[seq = 8, in = 4]>, !titan.tensor<bf16[seq = 8, out = 2]>) -> !titan.tensor<f64[in = 4, out = 2]>
// CHECK: titan.adamw %{{.*}} -> (!titan.tensor<f32[in = 4, out = 2]>, !titan.tensor<bf16[in = 4, out = 2]>, !titan.tensor<bf16[in = 4, out = 2]>)
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}, %b: !b {titan.param = "b"})
    -> (!s {titan.output = "loss"})
    attributes {titan.program = "train",
                titan.precision = {compute = bf16, reduce = f64, activations_reduce = bf16, optimizer = bf16},
                titan.optimizer = {name = "adamw", beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, clip = 0.0}} {
  %wn = titan.cast %w : !w -> !wn
  %bn = titan.cast %b : !b -> !bn
  %0 = titan.contract %x, %wn : (!x, !wn) -> !y
  %1 = titan.add %0, %bn : (!y, !bn) -> !y
  %2 = titan.cast %1 : !y -> !f
  %3 = titan.exp %2 : !f -> !f
  %loss = titan.reduce sum %3 : !f -> !s
  return %loss : !s
}
