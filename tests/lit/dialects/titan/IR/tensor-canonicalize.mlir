// RUN: titan-opt --canonicalize="region-simplify=disabled" %s | FileCheck %s

!x = !titan.tensor<f32[seq = 8]>
!y = !titan.tensor<f32[keys = 8]>
!z = !titan.tensor<f32[other = 8]>
!pairs = !titan.tensor<f32[pair = 4, two = 2]>
!front = !titan.tensor<f32[front = 3]>
!sharded = !titan.tensor<f32[seq = 8], <[{tp}]>>
!whole = !titan.tensor<f32[seq = 8], <[{}]>>

// An operation without effect is replaced by its operand.
// CHECK-LABEL: func.func @identities(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}})
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]]
func.func @identities(%x: !x) -> (!x, !x, !x, !x) {
  %0 = titan.reduce sum %x : !x -> !x
  %1 = titan.rename %x : !x -> !x
  %2 = titan.slice %x dim "seq" from 0 : !x -> !x
  %3 = titan.pad %x dim "seq" from 0 : !x -> !x
  return %0, %1, %2, %3 : !x, !x, !x, !x
}

// Pairs of inverse operations fold.
// CHECK-LABEL: func.func @inverses(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}}, %[[P:[^:]*]]: {{.*}}, %[[F:[^:]*]]: {{.*}})
// CHECK-NEXT: %[[RENAMED:.*]] = titan.rename %[[X]] : <f32[seq = 8]> -> <f32[other = 8]>
// CHECK-NEXT: return %[[RENAMED]], %[[X]], %[[X]], %[[P]], %[[F]]
func.func @inverses(%x: !x, %p: !pairs, %f: !front) -> (!z, !x, !x, !pairs, !front) {
  %0 = titan.rename %x : !x -> !y
  %1 = titan.rename %0 : !y -> !z
  %2 = titan.rename %1 : !z -> !x
  %3 = titan.split %x dim "seq" : !x -> !pairs
  %4 = titan.merge %3 dim "seq" : !pairs -> !x
  %5 = titan.merge %p dim "seq" : !pairs -> !x
  %6 = titan.split %5 dim "seq" : !x -> !pairs
  %7 = titan.pad %f dim "seq" from 2 : !front -> !x
  %8 = titan.slice %7 dim "seq" from 2 : !x -> !front
  return %1, %2, %4, %6, %8 : !z, !x, !x, !pairs, !front
}

// A slice of another range than the padded one stays; so does a maximum over a dimension.
// CHECK-LABEL: func.func @others
// CHECK: titan.pad
// CHECK: titan.slice
// CHECK: titan.reduce
func.func @others(%f: !front) -> (!front, !titan.tensor<f32[]>) {
  %0 = titan.pad %f dim "seq" from 2 : !front -> !x
  %1 = titan.slice %0 dim "seq" from 1 : !x -> !front
  %2 = titan.reduce max %f : !front -> !titan.tensor<f32[]>
  return %1, %2 : !front, !titan.tensor<f32[]>
}

// A rename between different shardings stays, because the sharding is part of the type.
// CHECK-LABEL: func.func @shardings
// CHECK: titan.rename
func.func @shardings(%x: !sharded) -> !whole {
  %0 = titan.rename %x : !sharded -> !whole
  return %0 : !whole
}

// Two nested stop_gradients fold to one.
// CHECK-LABEL: func.func @stopped(
// CHECK-COUNT-1: titan.stop_gradient
// CHECK-NOT: titan.stop_gradient
func.func @stopped(%x: !x) -> !x {
  %0 = titan.stop_gradient %x : !x -> !x
  %1 = titan.stop_gradient %0 : !x -> !x
  return %1 : !x
}
