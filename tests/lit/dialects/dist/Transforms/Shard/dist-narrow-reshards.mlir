// RUN: titan-opt --dist-narrow-reshards %s | FileCheck %s

dist.mesh @mesh [#dist.axis<a = 2>]

!whole = !titan.tensor<f32[x = 8], <[{}]>>
!half = !titan.tensor<bf16[x = 8], <[{}]>>
!flat = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!xa = !titan.tensor<f32[x = 8], <[{a}]>>
!xah = !titan.tensor<bf16[x = 8], <[{a}]>>
!sum = !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>

// A value that all uses cast to a narrower type is gathered in that type.
// CHECK-LABEL: func.func @gather
// CHECK: %[[PART:.*]] = titan.cast %arg0 : <f32[x = 8], <[{}] flat 0 {a}>> -> <bf16[x = 8], <[{}] flat 0 {a}>>
// CHECK: dist.reshard %[[PART]] : <bf16[{{.*}} flat 0 {a}>> -> <bf16[x = 8], <[{}]>>
// CHECK-NOT: titan.cast
func.func @gather(%w: !flat) -> (!half, !half) {
  %0 = dist.reshard %w : !flat -> !whole
  %1 = titan.cast %0 : !whole -> !half
  %2 = titan.cast %0 : !whole -> !half
  return %1, %2 : !half, !half
}

// The cast stays if another use needs the wide type. It also stays after a local slice, before which
// more elements would be cast.
// CHECK-LABEL: func.func @kept
// CHECK: dist.reshard %arg0 : <f32[
// CHECK: titan.cast
// CHECK: dist.reshard %arg1 : <f32[
// CHECK: titan.cast
func.func @kept(%w: !flat, %x: !whole) -> (!whole, !half, !xah) {
  %0 = dist.reshard %w : !flat -> !whole
  %1 = titan.cast %0 : !whole -> !half
  %2 = dist.reshard %x : !whole -> !xa
  %3 = titan.cast %2 : !xa -> !xah
  return %0, %1, %3 : !whole, !half, !xah
}

// A widened value is communicated in its original type.
// CHECK-LABEL: func.func @widened
// CHECK: %[[ALL:.*]] = dist.reshard %arg0 : <bf16[
// CHECK: titan.cast %[[ALL]] : <bf16[x = 8], <[{}]>> -> <f32[x = 8], <[{}]>>
func.func @widened(%x: !xah) -> !whole {
  %0 = titan.cast %x : !xah -> !xa
  %1 = dist.reshard %0 : !xa -> !whole
  return %1 : !whole
}

// A reduction does not commute with rounding.
// CHECK-LABEL: func.func @reduction
// CHECK: dist.reshard %arg0 : <f32[x = 8], <[{}] partial sum {a}>>
// CHECK: titan.cast
func.func @reduction(%x: !sum) -> !half {
  %0 = dist.reshard %x : !sum -> !whole
  %1 = titan.cast %0 : !whole -> !half
  return %1 : !half
}
