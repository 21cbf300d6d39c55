// RUN: titan-opt --titan-phase-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s

// An axis in head-tail order gives a rank two intervals of a dimension. Positions come from the rank's DimShard.
// CHECK: enum : int { cp_, tp_ };
dist.mesh @mesh [#dist.axis<cp = 2>, #dist.axis<tp = 2>]

!whole = !titan.tensor<f32[batch = 4, seq = 8, embed = 6], <[{}, {}, {}]>>
!mirrored = !titan.tensor<f32[batch = 4, seq = 8, embed = 6], <[{}, {cp headtail}, {}]>>
!inner = !titan.tensor<f32[batch = 4, seq = 8, embed = 6], <[{}, {cp headtail, tp}, {}]>>
!sum = !titan.tensor<f32[batch = 4, seq = 8, embed = 6], <[{}, {}, {}] partial sum {cp}>>
!positions = !titan.tensor<i64[seq = 8], <[{cp headtail}]>>
!table = !titan.tensor<f32[seq = 8], <[{cp headtail}]>>
!at = !titan.tensor<i64[batch = 4], <[{}]>>
!row = !titan.tensor<f32[batch = 4], <[{}] partial sum {cp}>>

func.func @train(%x: !mirrored {titan.input = "x"}, %in: !inner {titan.input = "in"}, %t: !table {titan.param = "t"},
                 %at: !at {titan.input = "at"})
    -> (!whole {titan.output = "g"}, !mirrored {titan.output = "s"}, !mirrored {titan.output = "l"},
        !inner {titan.output = "r"}, !positions {titan.output = "p"}, !row {titan.output = "a", titan.unreduced})
    attributes {titan.program = "train"} {
  // CHECK: allGather(ctx, over<mesh::cp_>(), DType::F32,
  // CHECK-NEXT: {{[{][{]}}x_, g_, batch_, seq_cp_, embed_, ShardOrder::HeadTail}});
  %g = dist.all_gather %x over ["cp"] : !mirrored -> !whole loc("g")
  // CHECK: reduceScatter(ctx, over<mesh::cp_>(), DType::F32, Reduction::Sum,
  // CHECK-NEXT: {{[{][{]}}{{.*}}, s_, batch_, seq_cp_, embed_, ShardOrder::HeadTail}});
  %m = dist.make_partial %g over ["cp"] : !whole -> !sum loc("m")
  %s = dist.reduce_scatter %m over ["cp"] : !sum -> !mirrored loc("s")
  // CHECK: tm::copyShard(ctx, l_ + i * (seq_cp_ * embed_), g_ + i * (seq_cp_ * embed_ * 2), getShard(seq_cp_ * embed_ * 2, {{[{][{]}}2, (ctx.coordinate[mesh::cp_]), ShardOrder::HeadTail}}));
  %l = dist.local_slice %g over ["cp"] : !whole -> !mirrored loc("l")
  // CHECK: const DimShard [[INNER:.*]] = getShard(seq_, {{[{][{]}}ctx.degree[mesh::cp_], ctx.coordinate[mesh::cp_], ShardOrder::HeadTail}, {ctx.degree[mesh::tp_], ctx.coordinate[mesh::tp_], ShardOrder::Block}});
  // CHECK: tm::rotation([[INNER]].toGlobal(seq_at_), 10000.0,
  %r = titan.rotary %in along "seq" dim "embed" {theta = 10000.0} : !inner -> !inner loc("r")
  // CHECK: const DimShard [[SHARD:.*]] = getShard(seq_, {{[{][{]}}ctx.degree[mesh::cp_], ctx.coordinate[mesh::cp_], ShardOrder::HeadTail}});
  // CHECK: p_[i] = [[SHARD]].toGlobal(i);
  %p = titan.iota : !positions loc("p")
  // CHECK: const int64_t [[AT:.*]] = [[SHARD]].toLocal(at_[i]);
  // CHECK: [[AT]] >= 0 && [[AT]] < seq_cp_ ?
  %a = titan.gather %t along "seq" at %at : (!table, !at) -> !row loc("a")
  return %g, %s, %l, %r, %p, %a : !whole, !mirrored, !mirrored, !inner, !positions, !row
}

// CHECK: .name = "x",
// CHECK-NEXT: .info = {DType::F32, {{.*}}{"seq", 8, {mesh::cp_}, 0, mesh::cp_}, {"embed", 6, {}}}, {}, 0}
