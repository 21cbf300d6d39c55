// RUN: titan-opt --canonicalize="region-simplify=disabled" %s | FileCheck %s

dist.mesh @mesh [#dist.axis<shard = 2>, #dist.axis<tp = 2>]

!whole = !titan.tensor<f32[seq = 8], <[{}]>>
!shard = !titan.tensor<f32[seq = 8], <[{shard}]>>
!tp = !titan.tensor<f32[seq = 8], <[{tp}]>>

// A reshard to the same sharding is replaced by its operand. A chain of two reshards becomes one.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}})
// CHECK-NEXT: %[[Y:.*]] = dist.reshard %[[X]] : {{.*}}{shard}{{.*}} -> {{.*}}{tp}
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @chain(%x: !shard) -> (!shard, !tp) {
  %0 = dist.reshard %x : !shard -> !shard
  %1 = dist.reshard %x : !shard -> !whole
  %2 = dist.reshard %1 : !whole -> !tp
  return %0, %2 : !shard, !tp
}

// A reshard with other users stays: a direct reshard in addition would communicate more.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}})
// CHECK-NEXT: %[[W:.*]] = dist.reshard %[[X]]
// CHECK-NEXT: %[[Y:.*]] = dist.reshard %[[W]]
// CHECK-NEXT: return %[[W]], %[[Y]]
func.func @shared(%x: !shard) -> (!whole, !tp) {
  %0 = dist.reshard %x : !shard -> !whole
  %1 = dist.reshard %0 : !whole -> !tp
  return %0, %1 : !whole, !tp
}

// A rank's local slice of a gathered value is its operand of the gather.
// CHECK-LABEL: func.func @own_shard(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}})
// CHECK-NEXT: return %[[X]]
func.func @own_shard(%x: !shard) -> !shard {
  %0 = dist.all_gather %x over ["shard"] : !shard -> !whole
  %1 = dist.local_slice %0 over ["shard"] : !whole -> !shard
  return %1 : !shard
}

// A slice over another axis than that of the gather stays.
// CHECK-LABEL: func.func @other_axis
// CHECK: dist.all_gather
// CHECK: dist.local_slice
func.func @other_axis(%x: !shard) -> !tp {
  %0 = dist.all_gather %x over ["shard"] : !shard -> !whole
  %1 = dist.local_slice %0 over ["tp"] : !whole -> !tp
  return %1 : !tp
}

!keys = !titan.tensor<f32[keys = 8], <[{}]>>
!keys_of_tp = !titan.tensor<f32[keys = 8], <[{tp}]>>

// An all-gather of the local slices of a value is the value, also if the slices are renamed.
// CHECK-LABEL: func.func @sliced(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}})
// CHECK-NEXT: %[[K:.*]] = titan.rename %[[X]]
// CHECK-NEXT: return %[[X]], %[[K]]
func.func @sliced(%x: !whole) -> (!whole, !keys) {
  %0 = dist.local_slice %x over ["tp"] : !whole -> !tp
  %1 = dist.all_gather %0 over ["tp"] : !tp -> !whole
  %2 = titan.rename %0 : !tp -> !keys_of_tp
  %3 = dist.all_gather %2 over ["tp"] : !keys_of_tp -> !keys
  return %1, %3 : !whole, !keys
}

!grid = !titan.tensor<f32[seq = 8, embed = 8], <[{shard}, {}]>>
!grid_tp = !titan.tensor<f32[seq = 8, embed = 8], <[{shard, tp}, {}]>>

// A gather over other axes stays, and so does a gather in flight.
// CHECK-LABEL: func.func @sliced_otherwise
// CHECK: dist.all_gather {{.*}} over ["shard", "tp"]
// CHECK: dist.all_gather {{.*}} start 0
func.func @sliced_otherwise(%x: !grid, %y: !whole) -> (!titan.tensor<f32[seq = 8, embed = 8], <[{}, {}]>>, !whole) {
  %0 = dist.local_slice %x over ["tp"] : !grid -> !grid_tp
  %1 = dist.all_gather %0 over ["shard", "tp"] : !grid_tp -> !titan.tensor<f32[seq = 8, embed = 8], <[{}, {}]>>
  %2 = dist.local_slice %y over ["tp"] : !whole -> !tp
  %3 = dist.all_gather %2 over ["tp"] start 0 : !tp -> !whole
  %4 = dist.wait 0 %3 reading %2 : (!whole, !tp) -> !whole
  return %1, %4 : !titan.tensor<f32[seq = 8, embed = 8], <[{}, {}]>>, !whole
}
