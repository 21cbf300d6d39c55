// RUN: titan-opt %s --titan-chunk-loss --split-input-file | FileCheck %s
// RUN: titan-opt %s --titan-chunk-loss=min-chunk-bytes=0 --split-input-file | FileCheck %s --check-prefix=ALL
// RUN: titan-opt %s --titan-chunk-loss=min-chunk-bytes=8192 --split-input-file | FileCheck %s --check-prefix=LIMIT
// RUN: titan-opt %s --titan-chunk-loss=min-chunk-bytes=8191 --split-input-file | FileCheck %s --check-prefix=BELOW

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[batch = 2, seq = 8]>
!n = !titan.tensor<f32[batch = 2, seq = 8]>
!x = !titan.tensor<f32[batch = 2, seq = 8, embed = 4]>
!w = !titan.tensor<f32[embed = 4, vocab = 64]>
!y = !titan.tensor<f32[batch = 2, seq = 8, vocab = 64]>

dist.mesh @mesh [#dist.axis<shard = 2>]
dist.axis_rules "shard" shards ["batch"] fallback [] stores []

// An axis shards the batch, so the sequence is sliced. The lookup of the labels' logits moves, too.
// A sum starts at zero; a value of one chunk is stacked and merged.
// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[a-z0-9]*]]: {{[^%]*}}%[[W:[a-z0-9]*]]: {{[^%]*}}%[[L:[a-z0-9]*]]:
// CHECK-NOT: loss_chunks
// CHECK: %[[BEFORE:.*]] = titan.exp %[[X]]
// CHECK: %[[CUT:.*]] = titan.split %[[X]] dim "seq" : {{.*}} -> <f32[batch = 2, seq.chunks = 4, seq = 2, embed = 4]>
// CHECK: %[[XS:.*]] = titan.expand %[[CUT]] : {{.*}} -> <f32[seq.chunks = 4, batch = 2, seq = 2, embed = 4]>
// CHECK: %[[R:.*]]:3 = titan.repeat <seq.chunks = 4> iter_args(%{{.*}}) scanned(%[[XS]], %{{.*}})
// CHECK: ^bb0(%{{.*}}, %[[DW:.*]]: !titan.tensor<f32[embed = 4, vocab = 64]>, %[[P:.*]]: !titan.tensor<f32[batch = 2, seq = 2, embed = 4]>, %[[PL:.*]]: !titan.tensor<i64[batch = 2, seq = 2]>):
// CHECK: %[[LOGITS:.*]] = titan.contract %[[P]], %[[W]] : {{.*}} -> !titan.tensor<f32[batch = 2, seq = 2, vocab = 64]>
// CHECK: %[[HIT:.*]] = titan.gather %[[LOGITS]] along "vocab" at %[[PL]]
// CHECK: %[[E:.*]] = titan.exp %[[LOGITS]]
// CHECK: %[[D:.*]] = titan.mul %[[E]], %[[HIT]]
// CHECK: %[[TERM:.*]] = titan.contract %[[P]], %[[D]]
// CHECK: %[[DX:.*]] = titan.contract %[[D]], %[[W]]
// CHECK: %[[DNEXT:.*]] = titan.add %[[DW]], %[[TERM]]
// CHECK: titan.yield %[[DNEXT]], %[[HIT]], %[[DX]]
// CHECK: %[[BACK:.*]] = titan.expand %[[R]]#2 : {{.*}} -> <f32[batch = 2, seq.chunks = 4, seq = 2, embed = 4]>
// CHECK: %[[WHOLE:.*]] = titan.merge %[[BACK]] dim "seq"
// CHECK: %[[LOSS:.*]] = titan.reduce sum
// CHECK: %[[LATER:.*]] = titan.exp %[[LOSS]]
// CHECK: return %[[LATER]], %[[R]]#0, %[[WHOLE]], %[[BEFORE]]
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}, %labels: !i {titan.input = "labels"})
    -> (!s, !w, !x, !x) attributes {titan.program = "train", titan.loss_chunks = 4 : i64} {
  %logits = titan.contract %x, %w : (!x, !w) -> !y
  %hit = titan.gather %logits along "vocab" at %labels : (!y, !i) -> !n
  %loss = titan.reduce sum %hit : !n -> !s
  %later = titan.exp %loss : !s -> !s
  %before = titan.exp %x : !x -> !x
  %e = titan.exp %logits : !y -> !y
  %d = titan.mul %e, %hit : (!y, !n) -> !y
  %dw = titan.contract %x, %d : (!x, !y) -> !w
  %dx = titan.contract %d, %w : (!y, !w) -> !x
  return %later, %dw, %dx, %before : !s, !w, !x, !x
}

// -----

!x = !titan.tensor<f32[batch = 8, seq = 512, embed = 64]>
!w = !titan.tensor<f32[embed = 64, vocab = 4096]>
!y = !titan.tensor<f32[batch = 8, seq = 512, vocab = 4096]>

// Without a number: 64 MiB become two chunks of the outermost dimension, which needs no copy.
// CHECK-LABEL: func.func @train(
// CHECK: titan.split %{{.*}} dim "batch" : {{.*}} -> <f32[batch.chunks = 2, batch = 4, seq = 512, embed = 64]>
// CHECK-NOT: expand %{{.*}} : <f32[batch.chunks
// CHECK: titan.repeat <batch.chunks = 2>
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}) -> !w attributes {titan.program = "train"} {
  %logits = titan.contract %x, %w : (!x, !w) -> !y
  %d = titan.exp %logits : !y -> !y
  %dw = titan.contract %x, %d : (!x, !y) -> !w
  return %dw : !w
}

// -----

!x = !titan.tensor<f32[batch = 16, seq = 64, embed = 512]>
!w = !titan.tensor<f32[embed = 512, vocab = 65536]>
!y = !titan.tensor<f32[batch = 16, seq = 64, vocab = 65536]>

// A chunk may be as large as the sum, up to 128 MiB. 256 MiB are two chunks; half the sum would be
// four.
// CHECK-LABEL: func.func @train(
// CHECK: titan.split %{{.*}} dim "batch" : {{.*}} -> <f32[batch.chunks = 2, batch = 8, seq = 64, embed = 512]>
// CHECK-NOT: expand %{{.*}} : <f32[batch.chunks
// CHECK: titan.repeat <batch.chunks = 2>
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}) -> !w attributes {titan.program = "train"} {
  %logits = titan.contract %x, %w : (!x, !w) -> !y
  %d = titan.exp %logits : !y -> !y
  %dw = titan.contract %x, %d : (!x, !y) -> !w
  return %dw : !w
}

// -----

!x = !titan.tensor<f32[batch = 8, seq = 512, embed = 64]>
!w = !titan.tensor<f32[embed = 64, vocab = 4096]>
!y = !titan.tensor<f32[batch = 8, seq = 512, vocab = 4096]>
dist.mesh @mesh [#dist.axis<shard = auto>, #dist.axis<tp = 4>]
dist.axis_rules "shard" shards ["batch"] fallback [] stores []
dist.axis_rules "tp" shards ["vocab"] fallback [] stores []

// A rank has at least one sample and a quarter of the vocabulary: 2 MiB stay whole.
// CHECK-LABEL: func.func @train(
// CHECK-NOT: titan.repeat
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}) -> !w attributes {titan.program = "train"} {
  %logits = titan.contract %x, %w : (!x, !w) -> !y
  %d = titan.exp %logits : !y -> !y
  %dw = titan.contract %x, %d : (!x, !y) -> !w
  return %dw : !w
}

// -----

!x = !titan.tensor<f32[batch = 8, seq = 512, embed = 64]>
!w = !titan.tensor<f32[embed = 64, vocab = 4096]>
!y = !titan.tensor<f32[batch = 8, seq = 512, vocab = 4096]>

// A function result must be whole, so it is not chunked; a single chunk needs no loop.
// CHECK-LABEL: func.func @train(
// CHECK-NOT: titan.repeat
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}) -> !y attributes {titan.program = "train"} {
  %logits = titan.contract %x, %w : (!x, !w) -> !y
  return %logits : !y
}
// CHECK-LABEL: func.func @one(
// CHECK-NOT: titan.repeat
func.func @one(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}) -> !w attributes {titan.program = "train", titan.loss_chunks = 1 : i64} {
  %logits = titan.contract %x, %w : (!x, !w) -> !y
  %d = titan.exp %logits : !y -> !y
  %dw = titan.contract %x, %d : (!x, !y) -> !w
  return %dw : !w
}

// -----

!x = !titan.tensor<f32[batch = 4, seq = 8, embed = 2]>
!w = !titan.tensor<f32[embed = 2, vocab = 64]>
!y = !titan.tensor<f32[batch = 4, seq = 8, vocab = 64]>

// Small values stay whole: those of at most `min-chunk-bytes`.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: titan.repeat
// CHECK: return
// ALL-LABEL: func.func @small(
// ALL: titan.repeat <seq.chunks = 8>
// LIMIT-LABEL: func.func @small(
// LIMIT-NOT: titan.repeat
// LIMIT: return
// BELOW-LABEL: func.func @small(
// BELOW: titan.repeat <batch.chunks = 2>
func.func @small(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}) -> !w attributes {titan.program = "train"} {
  %logits = titan.contract %x, %w : (!x, !w) -> !y
  %d = titan.exp %logits : !y -> !y
  %dw = titan.contract %x, %d : (!x, !y) -> !w
  return %dw : !w
}

// -----

!x = !titan.tensor<f32[batch = 4, seq = 8, embed = 2]>
!w = !titan.tensor<f32[embed = 2, vocab = 64]>
!y = !titan.tensor<f32[batch = 4, seq = 8, vocab = 64]>

// With two microbatches, the logits of each have half of the bytes.
// BELOW-LABEL: func.func @microbatches(
// BELOW-NOT: titan.repeat
// BELOW: return
// ALL-LABEL: func.func @microbatches(
// ALL: titan.repeat <seq.chunks = 8>
func.func @microbatches(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"}) -> !w
    attributes {titan.program = "train", titan.accumulate = {dim = "batch", microbatches = 2 : i64}} {
  %logits = titan.contract %x, %w : (!x, !w) -> !y
  %d = titan.exp %logits : !y -> !y
  %dw = titan.contract %x, %d : (!x, !y) -> !w
  return %dw : !w
}
