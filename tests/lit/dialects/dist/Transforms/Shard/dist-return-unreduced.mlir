// RUN: titan-opt --dist-return-unreduced --split-input-file %s | FileCheck %s

!s = !titan.tensor<f32[], <[]>>
!p = !titan.tensor<f32[], <[] partial sum {a}>>
!q = !titan.tensor<f32[], <[] partial sum {a, b}>>

dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]

// Only marked results become unreduced.
// CHECK-LABEL: func.func @marked
// CHECK-SAME: -> (!titan.tensor<f32[], <[]>> {titan.output = "loss"}, !titan.tensor<f32[], <[] partial sum {a}>> {titan.output = "local_loss", titan.unreduced})
// CHECK: %[[SUM:.*]] = dist.all_reduce %arg0
// CHECK: return %[[SUM]], %arg0
func.func @marked(%x: !p) -> (!s {titan.output = "loss"}, !s {titan.output = "local_loss", titan.unreduced}) {
  %0 = dist.all_reduce %x over ["a"] : !p -> !s
  return %0, %0 : !s, !s
}

// Sums over several axes, reduced one after the other, and coalesced sums: the returned terms are the operands of the first reduction.
// CHECK-LABEL: func.func @chain
// CHECK: return %arg1
func.func @chain(%x: !p, %y: !q) -> (!s {titan.output = "local_loss", titan.unreduced}) {
  %0 = dist.all_reduce %y over ["b"] : !q -> !p
  %1:2 = dist.all_reduce %x, %0 over ["a"] : !p, !p -> !s, !s
  return %1#1 : !s
}

// -----

!s = !titan.tensor<f32[], <[]>>
!m = !titan.tensor<f32[], <[] partial max {a}>>
!p = !titan.tensor<f32[], <[] partial sum {a}>>

dist.mesh @mesh [#dist.axis<a = 2>]

// Maxima, functions of a sum, and values that are not sums are returned unchanged.
// CHECK-LABEL: func.func @whole
// CHECK: %[[MAX:.*]] = dist.all_reduce %arg0
// CHECK: %[[SUM:.*]] = dist.all_reduce %arg1
// CHECK: %[[SQUARE:.*]] = titan.mul %[[SUM]], %[[SUM]]
// CHECK: return %[[MAX]], %[[SQUARE]], %arg2
func.func @whole(%x: !m, %y: !p, %z: !s) -> (!s {titan.unreduced}, !s {titan.unreduced}, !s {titan.unreduced}) {
  %0 = dist.all_reduce %x over ["a"] : !m -> !s
  %1 = dist.all_reduce %y over ["a"] : !p -> !s
  %2 = titan.mul %1, %1 : (!s, !s) -> !s
  return %0, %2, %z : !s, !s, !s
}

// -----

!s = !titan.tensor<f32[], <[]>>
!p = !titan.tensor<f32[], <[] partial sum {a}>>

dist.mesh @mesh [#dist.axis<a = 2>]

// A term that all ranks share is counted on one rank only, so the result would not be the loss of a rank.
// CHECK-LABEL: func.func @shared
// CHECK: %[[SUM:.*]] = dist.all_reduce
// CHECK: return %[[SUM]]
func.func @shared(%x: !p, %w: !s) -> (!s {titan.output = "local_loss", titan.unreduced}) {
  %0 = dist.make_partial %w over ["a"] : !s -> !p
  %1 = titan.add %x, %0 : (!p, !p) -> !p
  %2 = titan.neg %1 : !p -> !p
  %3 = dist.all_reduce %2 over ["a"] : !p -> !s
  return %3 : !s
}
