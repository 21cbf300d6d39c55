// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s -o %t.mlir
// RUN: titan-translate --titan-to-cpp %t.mlir | FileCheck %s
// RUN: titan-translate --titan-to-cuda %t.mlir | FileCheck %s --check-prefix=CUDA

dist.mesh @mesh [#dist.axis<shard = 2>]
!k = !titan.tensor<i64[], <[]>>
!x = !titan.tensor<f32[batch = 8, seq = 16, experts = 8], <[{shard}, {}, {}]>>
!v = !titan.tensor<f32[batch = 8, seq = 16, chosen = 2], <[{shard}, {}, {}]>>
!i = !titan.tensor<i64[batch = 8, seq = 16, chosen = 2], <[{shard}, {}, {}]>>

// CHECK-LABEL: void run(Context &ctx) {
func.func @train(%x: !x {titan.input = "x"} loc("x"), %seed: !k {titan.scalar = "seed"} loc("seed"))
    -> (!x {titan.output = "u"}, !x {titan.output = "chunk"}, !v {titan.output = "values"}, !x {titan.output = "sums"}, !i {titan.output = "slots"}, !x {titan.output = "put"})
    attributes {titan.program = "train"} {
  // A random number depends on the index of its element in the whole tensor.
  // CHECK: u_[{{.*}}] = tm::uniform<float>(0x{{[0-9a-f]+}}ull, i + batch_shard_start_ * (16 * 8), seed_at_);
  // CUDA: tm::uniform<float>(0x{{[0-9a-f]+}}ull, i + batch_shard_start_ * (16 * 8), seed_at_)
  %u = titan.random uniform "u.0" keys(%seed) : (!k) -> !x loc("u")
  // A random number of a chunk depends on the index in the tensor that is not cut.
  // CHECK: tm::uniform<float>(0x{{[0-9a-f]+}}ull, i * (64 * 8) + j + batch_shard_start_ * (64 * 8) + int64_t([[AT:seed_at_[0-9]+_]]) * 8 + int64_t([[AT]]) * 512, [[AT]])
  // CUDA: tm::uniform<float>(0x{{[0-9a-f]+}}ull, i * (64 * 8) + j + batch_shard_start_ * (64 * 8) + int64_t([[AT:seed_at_[0-9]+_]]) * 8 + int64_t([[AT]]) * 512, [[AT]])
  %part = titan.random uniform "u.0" keys(%seed) from(%seed, %seed) of [#titan.dim<seq = 64>, #titan.dim<batch = 24>] : (!k, !k, !k) -> !x loc("chunk")
  // CHECK: for (int64_t i = 0; i < batch_shard_ * seq_; ++i) {
  // CHECK-NEXT: tm::topK(x_ + i * experts_, 1, experts_, values_ + i * chosen_, {{.*}} + i * chosen_, 1, chosen_);
  // CUDA: tm::launch(ctx, batch_shard_ * seq_
  // CUDA-NEXT: tm::topK(
  %values, %indices = titan.top_k %x along "experts" : !x -> !v, !i loc("values")
  // CHECK: for (int64_t i = 0; i < batch_shard_; ++i) {
  // CHECK: double total = 0;
  // CHECK-NEXT: for (int64_t seq_at_ = 0; seq_at_ < seq_; ++seq_at_) {
  // CHECK-NEXT: total += x_[{{.*}}(seq_ - 1 - seq_at_){{.*}}];
  // CHECK-NEXT: sums_[{{.*}}(seq_ - 1 - seq_at_){{.*}}] = float(total);
  %sums = titan.cumulative_sum %x along "seq" {reverse} : !x -> !x loc("sums")
  // Threads divide the counted indices: each thread counts the occurrences of one index.
  // CHECK: tm::fill(ctx, slots_, batch_shard_ * seq_ * chosen_, int64_t(0));
  // CHECK: for (int64_t i = 0; i < batch_shard_; ++i) {
  // CHECK-NEXT: for (int64_t j = 0; j < 8; ++j) {
  // CHECK-NEXT: int64_t count = 0;
  // CHECK-NEXT: for (int64_t k = 0; k < seq_ * chosen_; ++k) {
  // CHECK-NEXT: if ({{.*}}[i * (seq_ * chosen_) + k] == j)
  // CHECK-NEXT: slots_[i * (seq_ * chosen_) + k] = count++;
  // CUDA: tm::launch(ctx, batch_shard_ * 8
  // CUDA: int64_t count = 0;
  %slots = titan.cumulative_count %indices along "experts" size 8 over ["seq", "chosen"] : !i -> !i loc("slots")
  // The indices of a scatter vary along all other dimensions of the result: threads divide these dimensions.
  // CHECK: tm::fill(ctx, put_,
  // CHECK: const int64_t at = {{.*}}[
  // CHECK-NEXT: if (at >= 0 && at < experts_)
  // CUDA: tm::fill(ctx, put_,
  // CUDA: tm::launch(ctx, batch_shard_ * seq_
  // CUDA: if (at >= 0 && at < experts_)
  %put = titan.scatter %values along "experts" at %indices : (!v, !i) -> !x loc("put")
  return %u, %part, %values, %sums, %slots, %put : !x, !x, !v, !x, !i, !x
}
