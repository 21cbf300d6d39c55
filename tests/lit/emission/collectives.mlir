// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s

// Collectives move blocks [outer, d, inner] of the sharded dimension; sizes that depend on an `auto`
// degree are variables of the function.

// CHECK: enum : int { shard_, tp_ };
dist.mesh @mesh [#dist.axis<shard = auto>, #dist.axis<tp = 2>]

!whole = !titan.tensor<f32[batch = 4, seq = 8, embed = 6], <[{shard}, {}, {}]>>
!split = !titan.tensor<f32[batch = 4, seq = 8, embed = 6], <[{shard}, {tp}, {}]>>
!columns = !titan.tensor<f32[batch = 4, seq = 8, embed = 6], <[{shard}, {}, {tp}]>>
!partial = !titan.tensor<f32[batch = 4, seq = 8, embed = 6], <[{shard}, {}, {}] partial sum {tp}>>
!weight = !titan.tensor<f32[embed = 6, ffn = 5], <[{}, {}]>>
!weightpart = !titan.tensor<f32[embed = 6, ffn = 5], <[{}, {}] partial sum {shard}>>
!stored = !titan.tensor<f32[embed = 6, ffn = 5], <[{}, {}] flat 0 {shard}>>

// CHECK: {{.*}}constexpr int64_t seq_tp_ = seq_ / 2;
// CHECK: void run(Context &ctx) {
// CHECK-DAG: const int64_t batch_shard_ = batch_ / ctx.degree[mesh::shard_];
// CHECK-DAG: const int64_t part_embed_ffn_ = tm::chunk(embed_ * ffn_, ctx.degree[mesh::shard_]);
func.func @train(%x: !split {titan.input = "x"}, %w: !stored {titan.param = "w"})
    -> (!whole {titan.output = "g"}, !split {titan.output = "s"}, !columns {titan.output = "c"}, !stored {titan.updates = 1 : i64})
    attributes {titan.program = "train"} {
  // CHECK: allGather(ctx, over<mesh::tp_>(), DType::F32, x_, g_, batch_shard_, seq_tp_, embed_);
  %g = dist.all_gather %x over ["tp"] : !split -> !whole loc("g")
  // The result cannot share the allocation of an output.
  // CHECK: if (ctx.coordinate[mesh::tp_] != 0)
  // CHECK-NEXT: tm::fill(ctx, p_, batch_shard_ * seq_ * embed_, float(0));
  %p = dist.make_partial %g over ["tp"] : !whole -> !partial loc("p")
  // CHECK: reduceScatter(ctx, over<mesh::tp_>(), DType::F32, Reduction::Sum, p_, s_, batch_shard_, seq_tp_, embed_);
  %s = dist.reduce_scatter %p over ["tp"] : !partial -> !split loc("s")
  // CHECK: allToAll(ctx, over<mesh::tp_>(), DType::F32, s_, c_, batch_shard_, embed_, 1, seq_tp_, 1, true);
  %c = dist.all_to_all %s over ["tp"] : !split -> !columns loc("c")
  // Flat storage is gathered with its padding, which the allocation includes.
  // CHECK: allGather(ctx, over<mesh::shard_>(), DType::F32, w_, v_, 1, part_embed_ffn_, 1);
  %v = dist.all_gather %w over ["shard"] : !stored -> !weight loc("v")
  %d = dist.make_partial %v over ["shard"] : !weight -> !weightpart loc("d")
  // CHECK: tm::fill(ctx, d_ + embed_ * ffn_, part_embed_ffn_ * ctx.degree[mesh::shard_] - embed_ * ffn_, float(0));
  // CHECK: reduceScatter(ctx, over<mesh::shard_>(), DType::F32, Reduction::Sum, d_, r_, 1, part_embed_ffn_, 1);
  %r = dist.reduce_scatter %d over ["shard"] : !weightpart -> !stored loc("r")
  return %g, %s, %c, %r : !whole, !split, !columns, !stored
}

// CHECK: .name = "w",
// CHECK-NEXT: .info = {DType::F32, {{.*}}"embed", 6, {}}, {"ffn", 5, {}}}, {mesh::shard_}, 0}
// CHECK: {"v", (30 + degree[mesh::shard_]) * getByteSize(DType::F32),
