// RUN: titan-opt --dist-insert-reshards %s | FileCheck %s

dist.mesh @mesh [#dist.axis<t = 2>]
dist.axis_rules "t" shards ["heads", "ffn"] fallback ["seq"] stores []

!x = !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>>
!xs = !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>>
!xe = !titan.tensor<f32[seq = 8, embed = 4], <[{}, {t}]>>
!h = !titan.tensor<f32[seq = 8, ffn = 6], <[{}, {t}]>>
!down = !titan.tensor<f32[ffn = 6, embed = 4], <[{t}, {}]>>
!s = !titan.tensor<f32[], <[]>>

// A contraction over a sharded dimension gives a partial sum. Two partial sums are added before one
// reduction to the sharding of the constraint.
// CHECK-LABEL: func.func @merge
func.func @merge(%h: !h, %w: !down) -> !xs {
  // CHECK: %[[A:.*]] = titan.contract {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{}, {}] partial sum {t}>>
  %0 = titan.contract %h, %w : (!h, !down) -> !x
  %1 = titan.contract %h, %w : (!h, !down) -> !x
  // CHECK: %[[S:.*]] = titan.add {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{}, {}] partial sum {t}>>
  %2 = titan.add %0, %1 : (!x, !x) -> !x
  // CHECK: %[[R:.*]] = dist.reshard %[[S]] : {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{t}, {}]>>
  // CHECK: return %[[R]]
  %3 = titan.sharding_constraint %2 : !x -> !xs
  return %3 : !xs
}

// A partial sum is reduced before a nonlinear operation and before a replicated tensor is added.
// CHECK-LABEL: func.func @nonlinear
func.func @nonlinear(%h: !h, %w: !down, %x: !x) -> !x {
  // CHECK: %[[P:.*]] = titan.contract
  %0 = titan.contract %h, %w : (!h, !down) -> !x
  // CHECK: %[[R:.*]] = dist.reshard %[[P]] : {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{}, {}]>>
  // CHECK: titan.add %[[R]], %{{.*}}
  %1 = titan.add %0, %x : (!x, !x) -> !x
  return %1 : !x
}

// A partial sum with several uses is reduced once, at its definition.
// CHECK-LABEL: func.func @once
func.func @once(%h: !h, %w: !down) -> !x {
  // CHECK: titan.contract
  %0 = titan.contract %h, %w : (!h, !down) -> !x
  // CHECK-NEXT: %[[R:.*]] = dist.reshard
  // CHECK-NEXT: titan.mul %[[R]], %[[R]]
  %1 = titan.mul %0, %0 : (!x, !x) -> !x
  return %1 : !x
}

// A mean over a sharded dimension: scaling forwards the partial sum, the scalar is made partial, and
// the square root reduces.
// CHECK-LABEL: func.func @mean
func.func @mean(%x: !xe, %scale: !s, %eps: !s) {
  %0 = titan.reduce sum %x : !xe -> !titan.tensor<f32[seq = 8], <[{}]>>
  // CHECK: titan.mul {{.*}} -> {{.*}}<f32[seq = 8], <[{}] partial sum {t}>>
  %1 = titan.mul %0, %scale : (!titan.tensor<f32[seq = 8], <[{}]>>, !s) -> !titan.tensor<f32[seq = 8], <[{}]>>
  // CHECK: %[[E:.*]] = dist.reshard %{{.*}} : {{.*}}<f32[], <[]>> -> {{.*}}<f32[], <[] partial sum {t}>>
  // CHECK: %[[M:.*]] = titan.add %{{.*}}, %[[E]]
  %2 = titan.add %1, %eps : (!titan.tensor<f32[seq = 8], <[{}]>>, !s) -> !titan.tensor<f32[seq = 8], <[{}]>>
  // CHECK: dist.reshard %[[M]] : {{.*}} -> {{.*}}<f32[seq = 8], <[{}]>>
  // CHECK: titan.rsqrt
  %3 = titan.rsqrt %2 : !titan.tensor<f32[seq = 8], <[{}]>> -> !titan.tensor<f32[seq = 8], <[{}]>>
  return
}

// A maximum over a sharded dimension is a partial maximum.
// CHECK-LABEL: func.func @maximum
func.func @maximum(%x: !xe) -> !titan.tensor<f32[seq = 8], <[{}]>> {
  // CHECK: titan.reduce max {{.*}} -> {{.*}}<f32[seq = 8], <[{}] partial max {t}>>
  // CHECK: dist.reshard
  %0 = titan.reduce max %x : !xe -> !titan.tensor<f32[seq = 8], <[{}]>>
  return %0 : !titan.tensor<f32[seq = 8], <[{}]>>
}

// A gather from a sharded table gives partial sums and needs replicated indices. A scatter needs replicated
// updates, or gives partial sums over an axis that shards the reduction.
// CHECK-LABEL: func.func @indexing
func.func @indexing(%table: !down, %i: !titan.tensor<i64[seq = 8], <[{t}]>>, %free: !x) -> (!xs, !down, !titan.tensor<f32[rows = 6, embed = 4], <[{}, {}]>>) {
  // CHECK: %[[I:.*]] = dist.reshard %arg1 : {{.*}} -> {{.*}}<i64[seq = 8], <[{}]>>
  // CHECK: titan.gather %arg0 along "ffn" at %[[I]] : {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{}, {}] partial sum {t}>>
  %0 = titan.gather %table along "ffn" at %i : (!down, !titan.tensor<i64[seq = 8], <[{t}]>>) -> !xs
  // CHECK: titan.scatter %arg2 along "ffn" at %[[I]] : {{.*}} -> {{.*}}<f32[ffn = 6, embed = 4], <[{t}, {}]>>
  %1 = titan.scatter %free along "ffn" at %i : (!x, !titan.tensor<i64[seq = 8], <[{t}]>>) -> !down
  // CHECK: titan.scatter {{.*}} along "rows" {{.*}} -> {{.*}}<f32[rows = 6, embed = 4], <[{}, {}] partial sum {t}>>
  %2 = titan.scatter %0 along "rows" at %i : (!xs, !titan.tensor<i64[seq = 8], <[{t}]>>) -> !titan.tensor<f32[rows = 6, embed = 4], <[{}, {}]>>
  return %0, %1, %2 : !xs, !down, !titan.tensor<f32[rows = 6, embed = 4], <[{}, {}]>>
}

// A stored parameter is gathered once in the body for both uses; a value from outside, before the repeat.
// CHECK-LABEL: func.func @gather
func.func @gather(%x: !x, %ws: !titan.tensor<f32[layers = 2, embed = 4], <[{}, {}] flat 1 {t}>>, %v: !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>) -> !x {
  // CHECK: %[[V:.*]] = dist.reshard %arg2
  // CHECK: titan.repeat
  %0 = titan.repeat <layers = 2> iter_args(%x) scanned(%ws) : (!x, !titan.tensor<f32[layers = 2, embed = 4], <[{}, {}] flat 1 {t}>>) -> !x {
  // CHECK: ^bb0({{.*}}, %[[C:.*]]: {{.*}}, %[[S:.*]]: !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>)
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %c: !x, %w: !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>):
    // CHECK-NEXT: %[[W:.*]] = dist.reshard %[[S]]
    // CHECK-NEXT: %[[M:.*]] = titan.mul %[[C]], %[[W]]
    %1 = titan.mul %c, %w : (!x, !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>) -> !x
    // CHECK-NEXT: %[[M2:.*]] = titan.mul %[[M]], %[[W]]
    %2 = titan.mul %1, %w : (!x, !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>) -> !x
    // CHECK-NEXT: titan.add %[[M2]], %[[V]]
    %3 = titan.add %2, %v : (!x, !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>) -> !x
    titan.yield %3 : !x
  }
  return %0 : !x
}

// An iteration argument that only accumulates partial sums is partial; one with other uses is not.
// CHECK-LABEL: func.func @accumulate
func.func @accumulate(%x: !xe, %zero: !s) -> (!s, !s) {
  // CHECK: %[[Z:.*]] = dist.reshard %arg1 : {{.*}} -> {{.*}}<f32[], <[] partial sum {t}>>
  // CHECK: %[[R:.*]]:2 = titan.repeat <layers = 2> iter_args(%[[Z]], %arg1)
  %0, %1 = titan.repeat <layers = 2> iter_args(%zero, %zero) scanned() : (!s, !s) -> (!s, !s) {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %a: !s, %b: !s):
    %2 = titan.reduce sum %x : !xe -> !s
    // CHECK: titan.add {{.*}} -> {{.*}}<f32[], <[] partial sum {t}>>
    %3 = titan.add %a, %2 : (!s, !s) -> !s
    %4 = titan.reduce sum %x : !xe -> !s
    %5 = titan.add %b, %4 : (!s, !s) -> !s
    // CHECK: titan.exp {{.*}} -> {{.*}}<f32[], <[]>>
    %6 = titan.exp %5 : !s -> !s
    titan.yield %3, %6 : !s, !s
  }
  // CHECK: dist.reshard %[[R]]#0 : {{.*}} -> {{.*}}<f32[], <[]>>
  return %0, %1 : !s, !s
}

// Partial scalars of flat and of sharded tensors are added, whatever the tensors' shardings.
// CHECK-LABEL: func.func @norm
func.func @norm(%a: !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>, %b: !down, %c: !titan.tensor<f32[embed = 4], <[{}]>>) -> !s {
  // CHECK: titan.contract %arg0, %arg0 : {{.*}} -> {{.*}}<f32[], <[] partial sum {t}>>
  %0 = titan.contract %a, %a : (!titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>, !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>) -> !s
  %1 = titan.contract %b, %b : (!down, !down) -> !s
  %2 = titan.contract %c, %c : (!titan.tensor<f32[embed = 4], <[{}]>>, !titan.tensor<f32[embed = 4], <[{}]>>) -> !s
  // CHECK: titan.add {{.*}} -> {{.*}}<f32[], <[] partial sum {t}>>
  %3 = titan.add %0, %1 : (!s, !s) -> !s
  // CHECK: dist.reshard {{.*}} -> {{.*}}<f32[], <[] partial sum {t}>>
  // CHECK: titan.add {{.*}} -> {{.*}}<f32[], <[] partial sum {t}>>
  %4 = titan.add %3, %2 : (!s, !s) -> !s
  // CHECK: dist.reshard {{.*}} -> {{.*}}<f32[], <[]>>
  return %4 : !s
}

// A contraction of a cast flat tensor is a partial scalar, too: the padding stays 0.
// CHECK-LABEL: func.func @norm_of_cast
func.func @norm_of_cast(%a: !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>) -> !s {
  // CHECK-NOT: dist.reshard {{.*}}embed
  // CHECK: %[[C:.*]] = titan.cast %arg0
  // CHECK-NEXT: titan.contract %[[C]], %[[C]] : {{.*}} -> {{.*}}<f32[], <[] partial sum {t}>>
  %0 = titan.cast %a : !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>> -> !titan.tensor<bf16[embed = 4], <[{}] flat 0 {t}>>
  %1 = titan.contract %0, %0 : (!titan.tensor<bf16[embed = 4], <[{}] flat 0 {t}>>, !titan.tensor<bf16[embed = 4], <[{}] flat 0 {t}>>) -> !s
  return %1 : !s
}

// Sums over iterations that start at 0 have no padding either: flat gradients of microbatches are contracted as shards.
!g = !titan.tensor<f32[embed = 4], <[{}] flat 0 {t}>>
// CHECK-LABEL: func.func @norm_of_sum
func.func @norm_of_sum(%a: !g) -> !s {
  %0 = titan.constant 0.0 : !titan.tensor<f32[]>
  %1 = titan.expand %0 : !titan.tensor<f32[]> -> !g
  %2 = titan.repeat <microbatches = 2> iter_args(%1) scanned() : (!g) -> !g {
  ^bb0(%m: !titan.tensor<i64[], <[]>>, %sum: !g):
    %3 = titan.add %sum, %a : (!g, !g) -> !g
    titan.yield %3 : !g
  }
  // CHECK-NOT: dist.reshard {{.*}}embed
  // CHECK: titan.contract {{.*}} -> {{.*}}<f32[], <[] partial sum {t}>>
  %4 = titan.contract %2, %2 : (!g, !g) -> !s
  return %4 : !s
}

// What adds a number to the padding is gathered before the contraction.
// CHECK-LABEL: func.func @norm_of_shifted
func.func @norm_of_shifted(%a: !g) -> !s {
  %0 = titan.constant 1.0 : !titan.tensor<f32[]>
  %1 = titan.add %a, %0 : (!g, !titan.tensor<f32[]>) -> !g
  // CHECK: %[[W:.*]] = dist.reshard %{{.*}} -> {{.*}}<f32[embed = 4], <[{}]>>
  // CHECK: titan.contract %[[W]], %[[W]]
  %2 = titan.contract %1, %1 : (!g, !g) -> !s
  return %2 : !s
}

// The cotangents of keys and values, shared by grouped queries, are partial if the group is sharded.
!q = !titan.tensor<f32[seq = 8, heads = 2, group = 2, head = 2], <[{}, {}, {t}, {}]>>
!k = !titan.tensor<f32[seq = 8, heads = 2, head = 2], <[{}, {}, {}]>>
!lse = !titan.tensor<f32[seq = 8, heads = 2, group = 2], <[{}, {}, {t}]>>
// CHECK-LABEL: func.func @group
func.func @group(%dy: !q, %q: !q, %k: !k, %v: !k, %y: !q, %lse: !lse) -> (!q, !k, !k) {
  // CHECK: titan.attention_grad
  // CHECK-SAME: -> (!titan.tensor<f32[seq = 8, heads = 2, group = 2, head = 2], <[{}, {}, {t}, {}]>>, !titan.tensor<f32[seq = 8, heads = 2, head = 2], <[{}, {}, {}] partial sum {t}>>,
  %0, %1, %2 = titan.attention_grad %dy, %q, %k, %v, %y, %lse along "seq" head "head" {scale = 1.0} : (!q, !q, !k, !k, !q, !lse) -> (!q, !k, !k)
  return %0, %1, %2 : !q, !k, !k
}

// A sum is reduced before it is narrowed; with round_before_reduce, each rank narrows its term first.
// CHECK-LABEL: func.func @narrowed_sums
func.func @narrowed_sums(%x: !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>>) -> (!titan.tensor<bf16[embed = 4], <[{}]>>, !titan.tensor<bf16[embed = 4], <[{}]>>) {
  // CHECK: %[[SUM:.*]] = titan.reduce sum %arg0 : {{.*}} -> <f32[embed = 4], <[{}] partial sum {t}>>
  %0 = titan.reduce sum %x : !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>> -> !titan.tensor<f32[embed = 4], <[{}]>>
  // CHECK-NEXT: %[[WHOLE:.*]] = dist.reshard %[[SUM]]
  // CHECK-NEXT: titan.cast %[[WHOLE]] : <f32[embed = 4], <[{}]>> -> <bf16[embed = 4], <[{}]>>
  %1 = titan.cast %0 : !titan.tensor<f32[embed = 4], <[{}]>> -> !titan.tensor<bf16[embed = 4], <[{}]>>
  // CHECK: %[[TERMS:.*]] = titan.reduce sum
  %2 = titan.reduce sum %x : !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>> -> !titan.tensor<f32[embed = 4], <[{}]>>
  // CHECK-NEXT: %[[NARROW:.*]] = titan.cast round_before_reduce %[[TERMS]] : <f32[embed = 4], <[{}] partial sum {t}>> -> <bf16[embed = 4], <[{}] partial sum {t}>>
  // CHECK-NEXT: dist.reshard %[[NARROW]]
  %3 = titan.cast round_before_reduce %2 : !titan.tensor<f32[embed = 4], <[{}]>> -> !titan.tensor<bf16[embed = 4], <[{}]>>
  return %1, %3 : !titan.tensor<bf16[embed = 4], <[{}]>>, !titan.tensor<bf16[embed = 4], <[{}]>>
}
