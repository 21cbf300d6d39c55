// RUN: titan-opt %s --titan-phase-model | FileCheck %s

// A valid program stays unchanged.
// CHECK-LABEL: func.func @train
// CHECK-SAME: titan.input = "tokens"
// CHECK-SAME: titan.param = "w"
// CHECK-SAME: titan.buffer
// CHECK: return
!s = !titan.tensor<f32[]>
func.func @train(%tokens: !titan.tensor<i64[seq = 2]> {titan.input = "tokens"},
                 %w: !s {titan.param = "w", titan.updated_by = @descent, titan.init = #titan.init<constant, [1.0]>},
                 %b: !s {titan.param = "b", titan.buffer, titan.init = #titan.init<constant, [1.0]>})
    -> (!s {titan.output = "loss"}, !s {titan.output = "loss.z"}, !s {titan.updates = 2})
    attributes {titan.program = "train"} {
  return %w, %w, %w : !s, !s, !s
}
