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
    -> (!x {titan.output = "u"}, !v {titan.output = "values"}, !x {titan.output = "sums"}, !x {titan.output = "put"})
    attributes {titan.program = "train"} {
  // A random number is that of the element's place in the whole tensor.
  // CHECK: u[{{.*}}] = tm::uniform<float>(0x{{[0-9a-f]+}}ull, i + batch_shard_start * (16 * 8), seed_at);
  // CUDA: tm::uniform<float>(0x{{[0-9a-f]+}}ull, i + batch_shard_start * (16 * 8), seed_at)
  %u = titan.random uniform "u.0" keys(%seed) : (!k) -> !x loc("u")
  // CHECK: for (int64_t i = 0; i < batch_shard * seq; ++i) {
  // CHECK-NEXT: tm::topK(x + i * experts, 1, experts, values + i * chosen, {{.*}} + i * chosen, 1, chosen);
  // CUDA: tm::launch(ctx, batch_shard * seq
  // CUDA-NEXT: tm::topK(
  %values, %indices = titan.top_k %x along "experts" : !x -> !v, !i loc("values")
  // CHECK: for (int64_t i = 0; i < batch_shard; ++i) {
  // CHECK: float total = 0;
  // CHECK-NEXT: for (int64_t seq_at = 0; seq_at < seq; ++seq_at) {
  // CHECK-NEXT: total += x[{{.*}}(seq - 1 - seq_at){{.*}}];
  // CHECK-NEXT: sums[{{.*}}(seq - 1 - seq_at){{.*}}] = total;
  %sums = titan.cumulative_sum %x along "seq" {reverse} : !x -> !x loc("sums")
  // Indices that vary in every dimension of the result: threads share those.
  // CHECK: tm::fill(ctx, put,
  // CHECK: const int64_t at = {{.*}}[
  // CHECK-NEXT: if (at >= 0 && at < experts)
  // CUDA: tm::fill(ctx, put,
  // CUDA: tm::launch(ctx, batch_shard * seq
  // CUDA: if (at >= 0 && at < experts)
  %put = titan.put %values along "experts" at %indices : (!v, !i) -> !x loc("put")
  return %u, %values, %sums, %put : !x, !v, !x, !x
}
