// RUN: titan-opt --titan-phase-overlap %s | FileCheck %s --implicit-check-not=start --implicit-check-not=dist.wait
// RUN: sed s/never/always/ %s | titan-opt --titan-phase-overlap | FileCheck %s --check-prefix=ALWAYS

// `sharding.overlap = never` leaves the all-reduce synchronous, where it is started early otherwise.
// CHECK: %{{.*}} = dist.all_reduce %{{.*}} over ["a"]
// CHECK: titan.exp
// ALWAYS: dist.all_reduce %{{.*}} over ["a"] start
// ALWAYS: titan.exp
// ALWAYS: dist.wait
module attributes {titan.run = {sharding.overlap = {value = "never", compile = true}}} {
  dist.mesh @mesh [#dist.axis<a = 2>]
  func.func @f(%p: !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>, %x: !titan.tensor<f32[x = 8], <[{}]>>)
      -> (!titan.tensor<f32[x = 8], <[{}]>>, !titan.tensor<f32[x = 8], <[{}]>>) {
    %g = dist.all_reduce %p over ["a"] : !titan.tensor<f32[x = 8], <[{}] partial sum {a}>> -> !titan.tensor<f32[x = 8], <[{}]>>
    %e = titan.exp %x : !titan.tensor<f32[x = 8], <[{}]>> -> !titan.tensor<f32[x = 8], <[{}]>>
    return %e, %g : !titan.tensor<f32[x = 8], <[{}]>>, !titan.tensor<f32[x = 8], <[{}]>>
  }
}
