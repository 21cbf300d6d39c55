// RUN: titan-opt %s | titan-opt | FileCheck %s

// A program of the model phase with a mesh, axis rules, argument roles and a repeat.

// CHECK: dist.mesh @mesh [#dist.axis<shard = auto>, #dist.axis<tp = 2>]
dist.mesh @mesh [#dist.axis<shard = auto>, #dist.axis<tp = 2>]
// CHECK: dist.axis_rules "shard" shards ["batch"] fallback [] stores ["params", "grads", "optimizer"]
dist.axis_rules "shard" shards ["batch"] fallback [] stores ["params", "grads", "optimizer"]
dist.axis_rules "tp" shards ["ffn", "vocab"] fallback ["seq"] stores []

!hidden = !titan.tensor<f32[batch = 4, seq = 8, embed = 16]>
!wide = !titan.tensor<f32[batch = 4, seq = 8, ffn = 32]>

// CHECK-LABEL: func.func @train
func.func @train(
    %tokens: !titan.tensor<i64[batch = 4, seq = 8]> {titan.input = "tokens"},
    %table: !titan.tensor<f32[vocab = 32, embed = 16]> {titan.param = "table", titan.init = #titan.init<normal, [1.0]>},
    %up: !titan.tensor<f32[layers = 2, embed = 16, ffn = 32]> {titan.param = "layers.up", titan.stacked, titan.init = #titan.init<truncated_normal, [0.02, 0.01] cut 3.0>},
    %down: !titan.tensor<f32[layers = 2, ffn = 32, embed = 16]> {titan.param = "layers.down", titan.stacked, titan.init = #titan.init<normal, [0.02]>})
    -> (!titan.tensor<f32[]> {titan.output = "loss"}) attributes {titan.program = "train"} {
  %0 = titan.gather %table along "vocab" at %tokens : (!titan.tensor<f32[vocab = 32, embed = 16]>, !titan.tensor<i64[batch = 4, seq = 8]>) -> !hidden
  %x = titan.sharding_constraint %0 : !hidden -> !hidden
  // CHECK: titan.repeat <layers = 2> iter_args(%{{.*}}) scanned(%{{.*}}, %{{.*}})
  %y = titan.repeat <layers = 2> iter_args(%x) scanned(%up, %down)
      : (!hidden, !titan.tensor<f32[layers = 2, embed = 16, ffn = 32]>, !titan.tensor<f32[layers = 2, ffn = 32, embed = 16]>) -> !hidden {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !hidden, %w1: !titan.tensor<f32[embed = 16, ffn = 32]>, %w2: !titan.tensor<f32[ffn = 32, embed = 16]>):
    %1 = titan.contract %c, %w1 : (!hidden, !titan.tensor<f32[embed = 16, ffn = 32]>) -> !wide
    %h = titan.sharding_constraint %1 : !wide -> !wide
    %t = titan.tanh %h : !wide -> !wide
    %2 = titan.contract %t, %w2 : (!wide, !titan.tensor<f32[ffn = 32, embed = 16]>) -> !hidden
    %3 = titan.add %c, %2 : (!hidden, !hidden) -> !hidden
    // CHECK: titan.yield
    titan.yield %3 : !hidden
  }
  // CHECK: titan.reduce sum
  %loss = titan.reduce sum %y : !hidden -> !titan.tensor<f32[]>
  return %loss : !titan.tensor<f32[]>
}

// Shardings are part of the type: dimension axes, flat axes, unreduced axes.
// CHECK-LABEL: func.func @shardings
// CHECK-SAME: !titan.tensor<f32[batch = 4, keys = 8 of seq], <[{shard}, {}] partial sum {tp}>>
// CHECK-SAME: !titan.tensor<f32[layers = 2, embed = 16], <[{}, {tp}] flat 1 {shard}>>
func.func @shardings(
    %a: !titan.tensor<f32[batch = 4, keys = 8 of seq], <[{shard}, {}] partial sum {tp}>>,
    %b: !titan.tensor<f32[layers = 2, embed = 16], <[{}, {tp}] flat 1 {shard}>>) {
  // CHECK: dist.reduce_scatter %{{.*}} over ["tp"]
  %s = dist.reduce_scatter %a over ["tp"] : !titan.tensor<f32[batch = 4, keys = 8 of seq], <[{shard}, {}] partial sum {tp}>> -> !titan.tensor<f32[batch = 4, keys = 8 of seq], <[{shard}, {tp}]>>
  // CHECK: dist.all_gather %{{.*}} over ["shard"]
  %g = dist.all_gather %b over ["shard"] : !titan.tensor<f32[layers = 2, embed = 16], <[{}, {tp}] flat 1 {shard}>> -> !titan.tensor<f32[layers = 2, embed = 16], <[{}, {tp}]>>
  return
}
