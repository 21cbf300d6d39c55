// RUN: titan-opt --titan-add-into %s | FileCheck %s
// RUN: titan-opt --titan-recompute-rows %s | FileCheck %s
// RUN: titan-opt --titan-recompute-values %s | FileCheck %s
// RUN: titan-opt --titan-fuse-rows %s | FileCheck %s
// RUN: titan-opt --dist-return-unreduced %s | FileCheck %s

// Passes do not change a function without a body.
// CHECK: func.func private @f(!titan.tensor<f32[x = 4]>)
func.func private @f(!titan.tensor<f32[x = 4]>)
