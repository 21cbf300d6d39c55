// RUN: split-file %s %t
// RUN: titan-interpret %t/right.mlir --check-gradients | FileCheck %s --check-prefix=RIGHT
// RUN: not titan-interpret %t/wrong.mlir --check-gradients | FileCheck %s --check-prefix=WRONG

// The loss is the sum of squares of w, whose gradient is 2 w.
// RIGHT: gradient w: agrees
// WRONG: gradient w: DIFFERS

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
