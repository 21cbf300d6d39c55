// RUN: titan-opt --dist-prefetch-gathers=overlap=never --dist-split-collectives=overlap=never %s | FileCheck %s --implicit-check-not=start --implicit-check-not=dist.wait
// RUN: titan-opt --dist-prefetch-gathers --dist-split-collectives %s | FileCheck %s --check-prefix=ALWAYS

// `overlap=never` leaves the all-reduce and the gather synchronous; both start early by default.
// CHECK-LABEL: func.func @f
// CHECK: %{{.*}} = dist.all_reduce %{{.*}} over ["a"]
// CHECK-NEXT: titan.exp
// CHECK-LABEL: func.func @prefetch
// CHECK-NEXT: titan.repeat
// CHECK: dist.all_gather %{{.*}} over ["a"]
// CHECK-NEXT: titan.mul
// ALWAYS-LABEL: func.func @f
// ALWAYS: dist.all_reduce %{{.*}} over ["a"] start
// ALWAYS-NEXT: titan.exp
// ALWAYS-NEXT: dist.wait
// ALWAYS-LABEL: func.func @prefetch
// ALWAYS: dist.all_gather %{{.*}} over ["a"] start
// ALWAYS: titan.repeat
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @f(%p: !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>, %x: !titan.tensor<f32[x = 8], <[{}]>>)
    -> (!titan.tensor<f32[x = 8], <[{}]>>, !titan.tensor<f32[x = 8], <[{}]>>) {
  %g = dist.all_reduce %p over ["a"] : !titan.tensor<f32[x = 8], <[{}] partial sum {a}>> -> !titan.tensor<f32[x = 8], <[{}]>>
  %e = titan.exp %x : !titan.tensor<f32[x = 8], <[{}]>> -> !titan.tensor<f32[x = 8], <[{}]>>
  return %e, %g : !titan.tensor<f32[x = 8], <[{}]>>, !titan.tensor<f32[x = 8], <[{}]>>
}
func.func @prefetch(%x: !titan.tensor<f32[x = 8], <[{}]>>, %w: !titan.tensor<f32[layers = 3, x = 8], <[{}, {}] flat 1 {a}>> {titan.param = "w"})
    -> !titan.tensor<f32[x = 8], <[{}]>> {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!titan.tensor<f32[x = 8], <[{}]>>, !titan.tensor<f32[layers = 3, x = 8], <[{}, {}] flat 1 {a}>>) -> !titan.tensor<f32[x = 8], <[{}]>> {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %c: !titan.tensor<f32[x = 8], <[{}]>>, %wl: !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>):
    %g = dist.all_gather %wl over ["a"] : !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>> -> !titan.tensor<f32[x = 8], <[{}]>>
    %m = titan.mul %c, %g : (!titan.tensor<f32[x = 8], <[{}]>>, !titan.tensor<f32[x = 8], <[{}]>>) -> !titan.tensor<f32[x = 8], <[{}]>>
    titan.yield %m : !titan.tensor<f32[x = 8], <[{}]>>
  }
  return %y : !titan.tensor<f32[x = 8], <[{}]>>
}
