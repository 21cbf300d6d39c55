// RUN: not titan-translate --titan-to-cpp %s 2>&1 | FileCheck %s

// Emission without a memory plan is an error.
// CHECK: error: values have no allocations yet: run --titan-plan-memory first
func.func @train(%x: !titan.tensor<f32[]> {titan.input = "x"}) attributes {titan.program = "train"} {
  return
}
