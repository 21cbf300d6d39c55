// RUN: titan-opt %s --titan-divide-tables -split-input-file | FileCheck %s

// Experts that an axis shards: two shards of two experts. The first contractions and the elementwise
// operations have a row per shard; the last contraction is summed over the shards.
dist.mesh @mesh [#dist.axis<ep = 2>]
dist.axis_rules "ep" shards ["experts", "batch"] fallback [] stores []

!x = !titan.tensor<f32[seq = 8, embed = 4]>
!w1 = !titan.tensor<f32[experts = 4, embed = 4, ffn = 6]>
!w2 = !titan.tensor<f32[experts = 4, ffn = 6, embed = 4]>
!i = !titan.tensor<i64[seq = 8, slot = 2]>
!h = !titan.tensor<f32[seq = 8, slot = 2, ffn = 6]>
!y = !titan.tensor<f32[seq = 8, slot = 2, embed = 4]>

// CHECK-LABEL: func.func @experts
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*, [^,]*}}, %[[W1:[^:]*]]: {{.*}}, %[[W2:[^:]*]]: {{.*}}, %[[I:[^:]*]]: !titan.tensor<i64
func.func @experts(%x: !x, %w1: !w1, %w2: !w2, %i: !i) -> !y {
  // CHECK: %[[P1:.*]] = titan.split %[[W1]] dim "experts" : {{.*}} -> <f32[experts.shard = 2 of experts, experts.local = 2, embed = 4, ffn = 6]>
  // CHECK: %[[N:.*]] = titan.iota : <i64[experts.shard = 2 of experts]>
  // CHECK: %[[START:.*]] = titan.mul %[[N]]
  // CHECK: %[[L:.*]] = titan.sub %[[I]], %[[START]]
  // CHECK: %[[G:.*]] = titan.grouped_contract %[[X]], %[[P1]] along "experts.local" at %[[L]] {{.*}} -> !titan.tensor<f32[experts.shard = 2 of experts, seq = 8, slot = 2, ffn = 6]>
  %g = titan.grouped_contract %x, %w1 along "experts" at %i : (!x, !w1, !i) -> !h
  // CHECK: %[[H:.*]] = titan.tanh %[[G]] : <f32[experts.shard = 2 of experts, seq = 8, slot = 2, ffn = 6]>
  %h = titan.tanh %g : !h -> !h
  // CHECK: %[[P2:.*]] = titan.split %[[W2]] dim "experts"
  // CHECK: %[[Y:.*]] = titan.grouped_contract %[[H]], %[[P2]] along "experts.local" at %[[L]]
  // CHECK: titan.reduce sum %[[Y]]
  %y = titan.grouped_contract %h, %w2 along "experts" at %i : (!h, !w2, !i) -> !y
  return %y : !y
}

// A value between the contractions is also used elsewhere: nothing is divided.
// CHECK-LABEL: func.func @used
// CHECK-NOT: experts.shard
func.func @used(%x: !x, %w1: !w1, %w2: !w2, %i: !i) -> (!y, !h) {
  %g = titan.grouped_contract %x, %w1 along "experts" at %i : (!x, !w1, !i) -> !h
  %h = titan.tanh %g : !h -> !h
  %y = titan.grouped_contract %h, %w2 along "experts" at %i : (!h, !w2, !i) -> !y
  return %y, %h : !y, !h
}

// Biases of the selected experts are divided like the products to which they are added. Other vectors are not.
// CHECK-LABEL: func.func @biases
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*, [^,]*}}, %[[W1:[^:]*]]: {{.*}}, %[[B1:[^:]*]]: !titan.tensor<f32[experts = 4, ffn = 6]>, %[[W2:[^:]*]]: {{.*}}, %[[B2:[^:]*]]: !titan.tensor<f32[experts = 4, embed = 4]>, %[[I:[^:]*]]: !titan.tensor<i64
func.func @biases(%x: !x, %w1: !w1, %b1: !titan.tensor<f32[experts = 4, ffn = 6]>, %w2: !w2, %b2: !titan.tensor<f32[experts = 4, embed = 4]>, %i: !i) -> (!y, !y) {
  // CHECK: %[[L:.*]] = titan.sub %[[I]], %
  // CHECK: %[[G:.*]] = titan.grouped_contract %[[X]],
  // CHECK: %[[T:.*]] = titan.split %[[B1]] dim "experts" : {{.*}} -> <f32[experts.shard = 2 of experts, experts.local = 2, ffn = 6]>
  // CHECK: %[[B:.*]] = titan.gather %[[T]] along "experts.local" at %[[L]] : {{.*}} -> !titan.tensor<f32[experts.shard = 2 of experts, seq = 8, slot = 2, ffn = 6]>
  // CHECK: titan.add %[[G]], %[[B]] : {{.*}} -> !titan.tensor<f32[experts.shard = 2 of experts, seq = 8, slot = 2, ffn = 6]>
  // CHECK: titan.gather %[[B2]] along "experts" at %[[I]]
  %g = titan.grouped_contract %x, %w1 along "experts" at %i : (!x, !w1, !i) -> !h
  %b = titan.gather %b1 along "experts" at %i : (!titan.tensor<f32[experts = 4, ffn = 6]>, !i) -> !h
  %h = titan.add %g, %b : (!h, !h) -> !h
  %y = titan.grouped_contract %h, %w2 along "experts" at %i : (!h, !w2, !i) -> !y
  %c = titan.gather %b2 along "experts" at %i : (!titan.tensor<f32[experts = 4, embed = 4]>, !i) -> !y
  %n = titan.neg %c : !y -> !y
  return %y, %n : !y, !y
}

// Contractions that sum over indices are last ones, and sum over the shards themselves.
// CHECK-LABEL: func.func @sums
func.func @sums(%x: !x, %w1: !w1, %w2: !w2, %b2: !titan.tensor<f32[experts = 4, embed = 4]>, %s: !titan.tensor<f32[seq = 8, slot = 2]>, %i: !i) -> (!x, !x) {
  // CHECK: titan.grouped_contract {{.*}} -> !titan.tensor<f32[experts.shard = 2 of experts, seq = 8, slot = 2, ffn = 6]>
  // CHECK: titan.grouped_contract {{.*}} along "experts.local" {{.*}} -> !titan.tensor<f32[seq = 8, embed = 4]>
  // CHECK: titan.grouped_contract {{.*}} along "experts.local" {{.*}} -> !titan.tensor<f32[seq = 8, embed = 4]>
  // CHECK-NOT: titan.reduce
  %g = titan.grouped_contract %x, %w1 along "experts" at %i : (!x, !w1, !i) -> !h
  %y = titan.grouped_contract %g, %w2 along "experts" at %i : (!h, !w2, !i) -> !x
  %z = titan.grouped_contract %s, %b2 along "experts" at %i : (!titan.tensor<f32[seq = 8, slot = 2]>, !titan.tensor<f32[experts = 4, embed = 4]>, !i) -> !x
  return %y, %z : !x, !x
}

// -----

// The axis shards an earlier dimension of the table: nothing is divided.
dist.mesh @mesh [#dist.axis<tp = 2>]
dist.axis_rules "tp" shards ["ffn", "experts"] fallback [] stores []

// CHECK-LABEL: func.func @ffn
// CHECK-NOT: experts.shard
func.func @ffn(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w1: !titan.tensor<f32[experts = 4, embed = 4, ffn = 6]>, %w2: !titan.tensor<f32[experts = 4, ffn = 6, embed = 4]>, %i: !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, embed = 4]> {
  %g = titan.grouped_contract %x, %w1 along "experts" at %i : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 4, embed = 4, ffn = 6]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, ffn = 6]>
  %y = titan.grouped_contract %g, %w2 along "experts" at %i : (!titan.tensor<f32[seq = 8, ffn = 6]>, !titan.tensor<f32[experts = 4, ffn = 6, embed = 4]>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[seq = 8, embed = 4]>
  return %y : !titan.tensor<f32[seq = 8, embed = 4]>
}
