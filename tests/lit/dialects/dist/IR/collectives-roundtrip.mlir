// RUN: titan-opt %s | titan-opt | FileCheck %s

dist.mesh @mesh [#dist.axis<shard = 2>, #dist.axis<tp = 2>]

// Each step between shardings is one collective or local operation.
// CHECK-LABEL: func.func @steps
func.func @steps(%x: !titan.tensor<f32[seq = 8, embed = 4], <[{tp}, {}] partial sum {shard}>>) {
  // CHECK: dist.all_reduce %{{.*}} over ["shard"]
  %0 = dist.all_reduce %x over ["shard"] : !titan.tensor<f32[seq = 8, embed = 4], <[{tp}, {}] partial sum {shard}>> -> !titan.tensor<f32[seq = 8, embed = 4], <[{tp}, {}]>>
  // CHECK: dist.all_to_all %{{.*}} over ["tp"]
  %1 = dist.all_to_all %0 over ["tp"] : !titan.tensor<f32[seq = 8, embed = 4], <[{tp}, {}]>> -> !titan.tensor<f32[seq = 8, embed = 4], <[{}, {tp}]>>
  // CHECK: dist.all_gather %{{.*}} over ["tp"]
  %2 = dist.all_gather %1 over ["tp"] : !titan.tensor<f32[seq = 8, embed = 4], <[{}, {tp}]>> -> !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>>
  // CHECK: dist.local_slice %{{.*}} over ["shard", "tp"]
  %3 = dist.local_slice %2 over ["shard", "tp"] : !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>> -> !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}] flat 0 {shard, tp}>>
  // CHECK: dist.make_partial %{{.*}} over ["tp"]
  %4 = dist.make_partial %2 over ["tp"] : !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>> -> !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}] partial sum {tp}>>
  // CHECK: dist.reduce_scatter %{{.*}} over ["tp"]
  %5 = dist.reduce_scatter %4 over ["tp"] : !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}] partial sum {tp}>> -> !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}] flat 0 {tp}>>
  // CHECK: dist.reshard
  %6 = dist.reshard %5 : !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}] flat 0 {tp}>> -> !titan.tensor<f32[seq = 8, embed = 4], <[{shard}, {}]>>
  return
}

!split = !titan.tensor<f32[seq = 8], <[{tp}]>>
!whole = !titan.tensor<f32[seq = 8], <[{}]>>
!more = !titan.tensor<f32[embed = 4], <[{tp}]>>
!all = !titan.tensor<f32[embed = 4], <[{}]>>
!stack = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {tp}]>>

// Coalesced collectives, synchronous and asynchronous.
// CHECK-LABEL: func.func @started
func.func @started(%x: !split, %z: !more, %w: !stack) -> (!whole, !all) {
  // CHECK: %[[F:.*]]:2 = dist.all_gather %arg0, %arg1 over ["tp"] start 3 : !titan{{.*}}, !titan{{.*}} -> !titan{{.*}}, !titan
  %f, %g = dist.all_gather %x, %z over ["tp"] start 3 : !split, !more -> !whole, !all
  // CHECK: %[[Y:.*]]:2 = dist.wait 3 %[[F]]#0, %[[F]]#1 reading %arg0, %arg1 : (
  %y, %v = dist.wait 3 %f, %g reading %x, %z : (!whole, !all, !split, !more) -> (!whole, !all)
  // CHECK: dist.layer %arg2[2] :
  %last = dist.layer %w[2] : !stack -> !split
  titan.repeat <layers = 3> iter_args() scanned(%w) : (!stack) -> () {
  // CHECK: ^bb0(%[[L:[^:]*]]:
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %wl: !split):
    // CHECK: dist.layer %arg2[%[[L]] + 1] :
    %next = dist.layer %w[%l + 1] : !stack -> !split
    // CHECK: dist.layer %arg2[%[[L]] - 1] :
    %before = dist.layer %w[%l - 1] : !stack -> !split
    // CHECK: dist.layer %arg2[%[[L]]] :
    %same = dist.layer %w[%l] : !stack -> !split
    titan.yield
  }
  return %y, %v : !whole, !all
}

// Permutes, and the ends of messages.
// CHECK-LABEL: func.func @moved
func.func @moved(%x: !split, %z: !more) -> (!split, !more, !split) {
  // CHECK: dist.permute %arg0 over ["tp"] by 1 : !titan{{.*}} -> !titan
  %0 = dist.permute %x over ["tp"] by 1 : !split -> !split
  // CHECK: %[[F:.*]]:2 = dist.permute %{{.*}}, %arg1 over ["tp"] by -1 start 0
  %f, %g = dist.permute %0, %z over ["tp"] by -1 start 0 : !split, !more -> !split, !more
  // CHECK: dist.wait 0 %[[F]]#0, %[[F]]#1 reading %{{.*}}, %arg1 : (
  %1, %2 = dist.wait 0 %f, %g reading %0, %z : (!split, !more, !split, !more) -> (!split, !more)
  // CHECK: dist.send %{{.*}} over ["tp"] by 1 start 1 : <f32
  dist.send %1 over ["tp"] by 1 start 1 : !split
  // CHECK: dist.wait 1 reading %{{.*}} : (!titan{{.*}}) -> ()
  dist.wait 1 reading %1 : (!split) -> ()
  // CHECK: dist.receive %arg0 over ["tp"] by 1 : <f32{{.*}} -> <f32
  %3 = dist.receive %x over ["tp"] by 1 : !split -> !split
  return %1, %2, %3 : !split, !more, !split
}

!mirrored = !titan.tensor<f32[seq = 8, embed = 4], <[{tp headtail}, {}]>>
!inner = !titan.tensor<f32[seq = 8, embed = 4], <[{tp headtail, shard}, {}]>>
!rows = !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>>

// The order of a dimension's axes is part of the type.
// CHECK-LABEL: func.func @mirrored
// CHECK-SAME: <[{tp headtail, shard}, {}]>>
func.func @mirrored(%x: !inner) -> !mirrored {
  // CHECK: dist.all_gather %{{.*}} over ["shard"] : {{.*}}<[{tp headtail, shard}, {}]>> -> {{.*}}<[{tp headtail}, {}]>>
  %0 = dist.all_gather %x over ["shard"] : !inner -> !mirrored
  %1 = dist.all_gather %0 over ["tp"] : !mirrored -> !rows
  // CHECK: dist.local_slice %{{.*}} over ["tp"] : {{.*}} -> {{.*}}<[{tp headtail}, {}]>>
  %2 = dist.local_slice %1 over ["tp"] : !rows -> !mirrored
  return %2 : !mirrored
}
