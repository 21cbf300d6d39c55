// RUN: titan-opt %s | titan-opt | FileCheck %s

// Fused regions and the attributes of the memory phase round-trip.

!row = !titan.tensor<f32[seq = 8]>
!hidden = !titan.tensor<f32[seq = 8, embed = 4]>

// CHECK-LABEL: func.func @normalise
// CHECK-SAME: titan.transient = [#titan.allocation<"d", !titan.tensor<f32[seq = 8, embed = 4]>, 1 to 3 pad ["shard"]>]
func.func @normalise(%x: !hidden) -> !hidden attributes {
    titan.transient = [#titan.allocation<"d", !titan.tensor<f32[seq = 8, embed = 4]>, 1 to 3 pad ["shard"]>]} {
  // CHECK: titan.fused rows ["seq"] : !titan.tensor<f32[seq = 8, embed = 4]>
  // CHECK-SAME: #titan.alloc_ref<transient 0>, #titan.alloc_ref<persistent 3 at[0, 1]>, #titan.alloc_ref<inline -1>
  // CHECK-NEXT: titan.reduce sum
  // CHECK: titan.yield
  %y = titan.fused rows ["seq"] : !hidden attributes {
      titan.result_allocs = [#titan.alloc_ref<transient 0>, #titan.alloc_ref<persistent 3 at [0, 1]>, #titan.alloc_ref<inline -1>]} {
    %s = titan.reduce sum %x : !hidden -> !row
    %d = titan.div %x, %s : (!hidden, !row) -> !hidden
    titan.yield %d : !hidden
  }
  return %y : !hidden
}
