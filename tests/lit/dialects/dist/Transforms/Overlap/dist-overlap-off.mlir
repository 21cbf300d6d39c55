// RUN: titan-opt --titan-phase-overlap %s | FileCheck %s

// The run may ask for no overlap.
// CHECK-NOT: start
module attributes {titan.run = {sharding.overlap = {value = "never", compile = true}}} {
  dist.mesh @mesh [#dist.axis<a = 2>]
  func.func @f(%p: !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>, %x: !titan.tensor<f32[x = 8], <[{}]>>)
      -> (!titan.tensor<f32[x = 8], <[{}]>>, !titan.tensor<f32[x = 8], <[{}]>>) {
    %g = dist.all_reduce %p over ["a"] : !titan.tensor<f32[x = 8], <[{}] partial sum {a}>> -> !titan.tensor<f32[x = 8], <[{}]>>
    %e = titan.exp %x : !titan.tensor<f32[x = 8], <[{}]>> -> !titan.tensor<f32[x = 8], <[{}]>>
    return %e, %g : !titan.tensor<f32[x = 8], <[{}]>>, !titan.tensor<f32[x = 8], <[{}]>>
  }
}
