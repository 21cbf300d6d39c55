// RUN: titan-opt --dist-form-fragments %s | FileCheck %s

!x = !titan.tensor<f32[batch = 2]>
!i = !titan.tensor<i64[]>

// Programs agree on the stage of a parameter: the first one that reads it in any of them. A program that needs it after
// later stages has another fragment of that stage.
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [1, 1] schedule "1f1b" microbatches 1

// CHECK-LABEL: func.func @early.evaluate.0.0(
// CHECK-SAME: titan.param = "w"
// CHECK-SAME: stage = 0
func.func @early(%in: !x {titan.input = "in"}, %w: !x {titan.param = "w"}) -> (!x {titan.output = "y"}) attributes {titan.program = "early"} {
  %scaled = titan.contract %in, %w : (!x, !x) -> !x
  %a = titan.repeat <layers.x1 = 1 of layers> iter_args(%scaled) scanned() {titan.stage = 0 : i64} : (!x) -> !x {
  ^bb0(%l: !i, %c: !x):
    titan.yield %c : !x
  }
  %y = titan.repeat <layers.x1 = 1 of layers> iter_args(%a) scanned() {titan.stage = 1 : i64} : (!x) -> !x {
  ^bb0(%l: !i, %c: !x):
    titan.yield %c : !x
  }
  return %y : !x
}

// CHECK-LABEL: func.func @late.evaluate.1.1(
// CHECK-NOT: titan.param
// CHECK-LABEL: func.func @late.evaluate.0.2(
// CHECK-SAME: titan.param = "w"
// CHECK: titan.contract
func.func @late(%in: !x {titan.input = "in"}, %w: !x {titan.param = "w"}) -> (!x {titan.output = "y"}) attributes {titan.program = "late"} {
  %a = titan.repeat <layers.x1 = 1 of layers> iter_args(%in) scanned() {titan.stage = 0 : i64} : (!x) -> !x {
  ^bb0(%l: !i, %c: !x):
    titan.yield %c : !x
  }
  %b = titan.repeat <layers.x1 = 1 of layers> iter_args(%a) scanned() {titan.stage = 1 : i64} : (!x) -> !x {
  ^bb0(%l: !i, %c: !x):
    titan.yield %c : !x
  }
  %y = titan.contract %b, %w : (!x, !x) -> !x
  return %y : !x
}
