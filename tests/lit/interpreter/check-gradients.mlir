// RUN: split-file %s %t
// RUN: titan-interpret %t/right.mlir --check-gradients | FileCheck %s --check-prefix=RIGHT
// RUN: not titan-interpret %t/wrong.mlir --check-gradients | FileCheck %s --check-prefix=WRONG
// RUN: titan-interpret %t/jump.mlir --check-gradients | FileCheck %s --check-prefix=JUMP
// RUN: titan-interpret %t/kink.mlir --check-gradients | FileCheck %s --check-prefix=KINK
// RUN: sed 's/0.75 : /4.0 : /' %t/kink.mlir > %t/beside.mlir
// RUN: not titan-interpret %t/beside.mlir --check-gradients | FileCheck %s --check-prefix=WRONG
// RUN: titan-interpret %t/bend.mlir --check-gradients | FileCheck %s --check-prefix=BEND
// RUN: sed 's/expand %zero/expand %little/' %t/bend.mlir > %t/off.mlir
// RUN: not titan-interpret %t/off.mlir --check-gradients | FileCheck %s --check-prefix=WRONG
// RUN: not titan-interpret %t/steep.mlir --check-gradients | FileCheck %s --check-prefix=WRONG

// The loss is the sum of squares of w, whose gradient is 2 w.
// RIGHT: gradient w: agrees
// WRONG: gradient w: DIFFERS

// The loss counts elements less than 0, and w is 0: a jump has no slope. A steep slope is accepted as a slope.
// JUMP: gradient w: does not exist, the loss jumps

// The loss is the sum of max(w, 0), and w is 0: every slope from 0 to 1 is right, and 4 is wrong.
// KINK: gradient w: is between the slopes of a kink

// The loss is the sum of max(w, 0) w, and w is 0: the slope is 0 on both sides, but the curvature
// differs. A gradient that deviates by a millionth is wrong.
// BEND: gradient w: is the limit of the differences

//--- right.mlir
!w = !titan.tensor<f32[x = 3]>
func.func @train(%w: !w {titan.param = "w", titan.init = #titan.init<normal, [1.0]>})
    -> (!titan.tensor<f32[]> {titan.output = "loss"}, !w {titan.gradient = "w"}) {
  %loss = titan.contract %w, %w : (!w, !w) -> !titan.tensor<f32[]>
  %g = titan.add %w, %w : (!w, !w) -> !w
  return %loss, %g : !titan.tensor<f32[]>, !w
}

//--- wrong.mlir
!w = !titan.tensor<f32[x = 3]>
func.func @train(%w: !w {titan.param = "w", titan.init = #titan.init<normal, [1.0]>})
    -> (!titan.tensor<f32[]> {titan.output = "loss"}, !w {titan.gradient = "w"}) {
  %loss = titan.contract %w, %w : (!w, !w) -> !titan.tensor<f32[]>
  return %loss, %w : !titan.tensor<f32[]>, !w
}

//--- jump.mlir
!w = !titan.tensor<f32[x = 3]>
func.func @train(%w: !w {titan.param = "w", titan.init = #titan.init<constant, [0.0]>})
    -> (!titan.tensor<f32[]> {titan.output = "loss"}, !w {titan.gradient = "w"}) {
  %zero = titan.constant 0.0 : !titan.tensor<f32[]>
  %less = titan.compare lt, %w, %zero : (!w, !titan.tensor<f32[]>) -> !titan.tensor<i1[x = 3]>
  %ones = titan.cast %less : !titan.tensor<i1[x = 3]> -> !w
  %loss = titan.reduce sum %ones : !w -> !titan.tensor<f32[]>
  return %loss, %w : !titan.tensor<f32[]>, !w
}

//--- steep.mlir
!w = !titan.tensor<f32[x = 3]>
func.func @train(%w: !w {titan.param = "w", titan.init = #titan.init<constant, [0.0]>})
    -> (!titan.tensor<f32[]> {titan.output = "loss"}, !w {titan.gradient = "w"}) {
  %steep = titan.constant 1.0e+06 : !titan.tensor<f32[]>
  %scaled = titan.mul %w, %steep : (!w, !titan.tensor<f32[]>) -> !w
  %loss = titan.reduce sum %scaled : !w -> !titan.tensor<f32[]>
  return %loss, %w : !titan.tensor<f32[]>, !w
}

//--- kink.mlir
!w = !titan.tensor<f32[x = 3]>
func.func @train(%w: !w {titan.param = "w", titan.init = #titan.init<constant, [0.0]>})
    -> (!titan.tensor<f32[]> {titan.output = "loss"}, !w {titan.gradient = "w"}) {
  %zero = titan.constant 0.0 : !titan.tensor<f32[]>
  %slope = titan.constant 0.75 : !titan.tensor<f32[]>
  %most = titan.maximum %w, %zero : (!w, !titan.tensor<f32[]>) -> !w
  %loss = titan.reduce sum %most : !w -> !titan.tensor<f32[]>
  %g = titan.expand %slope : !titan.tensor<f32[]> -> !w
  return %loss, %g : !titan.tensor<f32[]>, !w
}

//--- bend.mlir
!w = !titan.tensor<f32[x = 3]>
func.func @train(%w: !w {titan.param = "w", titan.init = #titan.init<constant, [0.0]>})
    -> (!titan.tensor<f32[]> {titan.output = "loss"}, !w {titan.gradient = "w"}) {
  %zero = titan.constant 0.0 : !titan.tensor<f32[]>
  %little = titan.constant 1.0e-06 : !titan.tensor<f32[]>
  %most = titan.maximum %w, %zero : (!w, !titan.tensor<f32[]>) -> !w
  %loss = titan.contract %most, %w : (!w, !w) -> !titan.tensor<f32[]>
  %g = titan.expand %zero : !titan.tensor<f32[]> -> !w
  return %loss, %g : !titan.tensor<f32[]>, !w
}
