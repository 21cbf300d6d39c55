// RUN: titan-opt %s --dist-order-dimensions --split-input-file | FileCheck %s
// RUN: titan-opt %s --dist-order-dimensions=recomputes=true --split-input-file | FileCheck %s --check-prefix=AGAIN

!x = !titan.tensor<f32[batch = 4, seq = 8, embed = 8]>
!w = !titan.tensor<f32[experts = 8, embed = 8, ffn = 16]>
!v = !titan.tensor<f32[experts = 8, ffn = 16, embed = 8]>
!i = !titan.tensor<i64[batch = 4, seq = 8]>
!h = !titan.tensor<f32[batch = 4, seq = 8, ffn = 16]>

// Rows of 4 x 8 x 8 elements move to the experts and their sums back, forward and backward: 1,024 bytes each. The matrices of the
// experts, 1,024 elements each of two tables, would be gathered twice, and their gradients reduced. The second product takes rows that
// are with the experts already.
dist.mesh @mesh [#dist.axis<shard = 2>]
// CHECK: dist.axis_rules "shard" shards ["experts", "batch", "vocab"] {{.*}} {dist.order = "experts first: moving rows sends about 4.1 kB a step, gathering parameters 24.6 kB"}
// AGAIN: dist.axis_rules "shard" shards ["experts", "batch", "vocab"] {{.*}} {dist.order = "experts first: moving rows sends about 6.1 kB a step, gathering parameters 24.6 kB"}
dist.axis_rules "shard" shards ["batch", "experts", "vocab"] fallback [] stores []
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}, %v: !v {titan.param = "v"}, %i: !i {titan.input = "i"}) -> !x
    attributes {titan.program = "train"} {
  %h = titan.grouped_contract %x, %w along "experts" at %i : (!x, !w, !i) -> !h
  %t = titan.tanh %h : !h -> !h
  %y = titan.grouped_contract %t, %v along "experts" at %i : (!h, !v, !i) -> !x
  return %y : !x
}

// -----

!x = !titan.tensor<f32[batch = 64, seq = 8, embed = 8]>
!w = !titan.tensor<f32[experts = 2, embed = 8, ffn = 8]>
!i = !titan.tensor<i64[batch = 64, seq = 8]>

// Many rows and two small matrices: the matrices are gathered.
dist.mesh @mesh [#dist.axis<shard = 2>]
// CHECK: dist.axis_rules "shard" shards ["batch", "experts"] {{.*}} {dist.order = "batch first: moving rows sends about 65.5 kB a step, gathering parameters 1.5 kB"}
dist.axis_rules "shard" shards ["experts", "batch"] fallback [] stores []
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}, %i: !i {titan.input = "i"}) -> !titan.tensor<f32[batch = 64, seq = 8, ffn = 8]>
    attributes {titan.program = "train"} {
  %h = titan.grouped_contract %x, %w along "experts" at %i : (!x, !w, !i) -> !titan.tensor<f32[batch = 64, seq = 8, ffn = 8]>
  return %h : !titan.tensor<f32[batch = 64, seq = 8, ffn = 8]>
}

// -----

!x = !titan.tensor<f32[batch = 2, experts = 8, slots = 2, embed = 8]>
!w = !titan.tensor<f32[experts = 8, embed = 8, ffn = 4]>
!y = !titan.tensor<f32[batch = 2, experts = 8, slots = 2, ffn = 4]>

// Lists of rows: a rank exchanges its own part, there and back, forward and backward. An axis of degree auto, or one that
// lists only one of the dimensions, keeps its order.
dist.mesh @mesh [#dist.axis<dp = auto>, #dist.axis<tp = 2>, #dist.axis<ep = 2>]
// CHECK: dist.axis_rules "dp" shards ["batch", "experts"] fallback [] stores []{{$}}
dist.axis_rules "dp" shards ["batch", "experts"] fallback [] stores []
// CHECK: dist.axis_rules "tp" shards ["ffn", "experts"] fallback ["batch"] stores []{{$}}
dist.axis_rules "tp" shards ["ffn", "experts"] fallback ["batch"] stores []
// CHECK: dist.axis_rules "ep" shards ["experts", "batch"] {{.*}} {dist.order = "experts first:
dist.axis_rules "ep" shards ["batch", "experts"] fallback [] stores []
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}) -> !y attributes {titan.program = "train"} {
  %y = titan.contract %x, %w : (!x, !w) -> !y
  return %y : !y
}
