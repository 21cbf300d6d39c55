// RUN: titan-opt --dist-widen-reductions %s | FileCheck %s

dist.mesh @mesh [#dist.axis<a = 2>]

!x = !titan.tensor<bf16[x = 8, y = 4], <[{}, {a}]>>
!w = !titan.tensor<bf16[y = 4, z = 2], <[{a}, {}]>>
!part = !titan.tensor<bf16[x = 8, z = 2], <[{}, {}] partial sum {a}>>
!sum = !titan.tensor<bf16[x = 8, z = 2], <[{}, {}]>>
!wide = !titan.tensor<f32[x = 8, z = 2], <[{}, {}] partial sum {a}>>
!widesum = !titan.tensor<f32[x = 8, z = 2], <[{}, {}]>>

// A contraction computes its partial sum in the declared type; other partial sums are cast to it.
// CHECK-LABEL: func.func @activations
// CHECK: %[[P:.*]] = titan.contract %arg0, %arg1 : {{.*}} -> !titan.tensor<f32[x = 8, z = 2], <[{}, {}] partial sum {a}>>
// CHECK: %[[S:.*]] = dist.reshard %[[P]] : <f32[
// CHECK: %[[Y:.*]] = titan.cast %[[S]] : <f32[{{.*}} -> <bf16[
// CHECK: %[[C:.*]] = titan.cast %arg2 : <bf16[
// CHECK: %[[R:.*]] = dist.reshard %[[C]] : <f32[
// CHECK: %[[Z:.*]] = titan.cast %[[R]]
// CHECK: return %[[Y]], %[[Z]]
func.func @activations(%x: !x, %w: !w, %p: !part) -> (!sum, !sum)
    attributes {titan.precision = #titan.precision<compute = bf16, reduce = f32, activations_reduce = f32, optimizer = f32>} {
  %0 = titan.contract %x, %w : (!x, !w) -> !part
  %1 = dist.reshard %0 : !part -> !sum
  %2 = dist.reshard %p : !part -> !sum
  return %1, %2 : !sum, !sum
}

// Gradients of parameters and values of precision regions keep their types.
// CHECK-LABEL: func.func @others
// CHECK-NOT: titan.cast
func.func @others(%p: !part, %q: !wide) -> (!sum {titan.gradient = "w"}, !widesum)
    attributes {titan.precision = #titan.precision<compute = bf16, reduce = bf16, activations_reduce = f32, optimizer = f32>} {
  %0 = dist.reshard %p : !part -> !sum
  %1 = dist.reshard %q : !wide -> !widesum
  return %0, %1 : !sum, !widesum
}
