// RUN: titan-opt --dist-lower-reshards %s | FileCheck %s

dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]

!whole = !titan.tensor<f32[x = 8, y = 8], <[{}, {}]>>
!xa = !titan.tensor<f32[x = 8, y = 8], <[{a}, {}]>>
!ya = !titan.tensor<f32[x = 8, y = 8], <[{}, {a}]>>
!xab = !titan.tensor<f32[x = 8, y = 8], <[{a, b}, {}]>>
!sum = !titan.tensor<f32[x = 8, y = 8], <[{}, {}] partial sum {a}>>
!sums = !titan.tensor<f32[x = 8, y = 8], <[{}, {}] partial sum {a, b}>>
!flat = !titan.tensor<f32[x = 8, y = 8], <[{}, {}] flat 0 {a}>>

// Each change of one axis list is one collective.
// CHECK-LABEL: func.func @single
func.func @single(%xa: !xa, %whole: !whole, %sum: !sum, %flat: !flat) -> (!whole, !xa, !xa, !whole, !ya, !sum, !whole, !flat) {
  // CHECK: dist.all_gather %arg0 over ["a"]
  %0 = dist.reshard %xa : !xa -> !whole
  // CHECK: dist.local_slice %arg1 over ["a"]
  %1 = dist.reshard %whole : !whole -> !xa
  // CHECK: dist.reduce_scatter %arg2 over ["a"]
  %2 = dist.reshard %sum : !sum -> !xa
  // CHECK: dist.all_reduce %arg2 over ["a"]
  %3 = dist.reshard %sum : !sum -> !whole
  // CHECK: dist.all_to_all %arg0 over ["a"]
  %4 = dist.reshard %xa : !xa -> !ya
  // CHECK: dist.make_partial %arg1 over ["a"]
  %5 = dist.reshard %whole : !whole -> !sum
  // CHECK: dist.all_gather %arg3 over ["a"]
  %6 = dist.reshard %flat : !flat -> !whole
  // CHECK: dist.reduce_scatter %arg2 over ["a"] : {{.*}} -> {{.*}}<f32[x = 8, y = 8], <[{}, {}] flat 0 {a}>>
  %7 = dist.reshard %sum : !sum -> !flat
  return %0, %1, %2, %3, %4, %5, %6, %7 : !whole, !xa, !xa, !whole, !ya, !sum, !whole, !flat
}

// Other reshards are chains; adjacent axes share a step.
// CHECK-LABEL: func.func @chains
func.func @chains(%sums: !sums, %xab: !xab) -> (!flat, !whole, !ya) {
  // CHECK: %[[S:.*]] = dist.reduce_scatter %arg0 over ["a"]
  // CHECK: dist.all_reduce %[[S]] over ["b"]
  %0 = dist.reshard %sums : !sums -> !flat
  // CHECK: dist.all_gather %arg1 over ["a", "b"]
  %1 = dist.reshard %xab : !xab -> !whole
  // CHECK: %[[G:.*]] = dist.all_gather %arg1 over ["b"]
  // CHECK: dist.all_to_all %[[G]] over ["a"]
  %2 = dist.reshard %xab : !xab -> !ya
  return %0, %1, %2 : !flat, !whole, !ya
}

!mirrored = !titan.tensor<f32[x = 8, y = 8], <[{a headtail}, {}]>>
!inner = !titan.tensor<f32[x = 8, y = 8], <[{a headtail, b}, {}]>>

// Another order is reached by a gather and a slice; an axis in head-tail order moves alone.
// CHECK-LABEL: func.func @orders
func.func @orders(%xa: !xa, %mirrored: !mirrored, %inner: !inner, %sum: !sum) -> (!mirrored, !ya, !whole, !mirrored) {
  // CHECK: %[[W:.*]] = dist.all_gather %arg0 over ["a"]
  // CHECK: dist.local_slice %[[W]] over ["a"] : {{.*}} -> {{.*}}<[{a headtail}, {}]>>
  %0 = dist.reshard %xa : !xa -> !mirrored
  // CHECK: %[[W:.*]] = dist.all_gather %arg1 over ["a"]
  // CHECK: dist.local_slice %[[W]] over ["a"] : {{.*}} -> {{.*}}<[{}, {a}]>>
  %1 = dist.reshard %mirrored : !mirrored -> !ya
  // CHECK: %[[I:.*]] = dist.all_gather %arg2 over ["b"] : {{.*}} -> {{.*}}<[{a headtail}, {}]>>
  // CHECK: dist.all_gather %[[I]] over ["a"]
  %2 = dist.reshard %inner : !inner -> !whole
  // CHECK: dist.reduce_scatter %arg3 over ["a"] : {{.*}} -> {{.*}}<[{a headtail}, {}]>>
  %3 = dist.reshard %sum : !sum -> !mirrored
  return %0, %1, %2, %3 : !mirrored, !ya, !whole, !mirrored
}
