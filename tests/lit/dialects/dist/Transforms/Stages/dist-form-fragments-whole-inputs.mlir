// RUN: titan-opt --dist-form-fragments %s | FileCheck %s

// A sum over an input is computed once per step, by a fragment that reads the whole input. Fragments of the loop read slots.
// CHECK-LABEL: func.func @weighted.begin.0(
// CHECK-SAME: %[[WHOLE:[a-z0-9]+]]: !titan.tensor<f32[microbatches = 2, batch = 2]> {titan.input = "x"})
// CHECK-SAME: titan.step_value = "[[TOTAL:[^"]*]]"
// CHECK: titan.reduce sum %[[WHOLE]]
// CHECK-LABEL: func.func @weighted.forward.0(
// CHECK-SAME: !titan.tensor<f32[batch = 2]> {titan.input = "x", titan.microbatch}
// CHECK-SAME: titan.step_value = "[[TOTAL]]"
func.func @weighted(%x: !titan.tensor<f32[microbatches = 2, batch = 2]> {titan.input = "x"}) -> (!titan.tensor<f32[]> {titan.output = "y"}) attributes {titan.program = "weighted"} {
  %zero = titan.constant 0.0 : <f32[]>
  %total = titan.reduce sum %x : !titan.tensor<f32[microbatches = 2, batch = 2]> -> !titan.tensor<f32[]>
  %y = titan.repeat <microbatches = 2> iter_args(%zero) scanned(%x) : (!titan.tensor<f32[]>, !titan.tensor<f32[microbatches = 2, batch = 2]>) -> !titan.tensor<f32[]> {
  ^bb0(%m: !titan.tensor<i64[]>, %c: !titan.tensor<f32[]>, %slot: !titan.tensor<f32[batch = 2]>):
    %share = titan.div %slot, %total : (!titan.tensor<f32[batch = 2]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[batch = 2]>
    %z = titan.repeat <a = 1> iter_args(%share) scanned() {titan.stage = 0 : i64} : (!titan.tensor<f32[batch = 2]>) -> !titan.tensor<f32[batch = 2]> {
    ^bb0(%l: !titan.tensor<i64[]>, %d: !titan.tensor<f32[batch = 2]>):
      titan.yield %d : !titan.tensor<f32[batch = 2]>
    }
    %term = titan.reduce sum %z : !titan.tensor<f32[batch = 2]> -> !titan.tensor<f32[]>
    %sum = titan.add %c, %term : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
    titan.yield %sum : !titan.tensor<f32[]>
  }
  return %y : !titan.tensor<f32[]>
}
