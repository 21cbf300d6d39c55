// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s

// Contractions become matrix products: dimensions that lie together are one index, transposition is
// read off the storage order.

!hidden = !titan.tensor<f32[batch = 4, seq = 8, embed = 16]>
!query = !titan.tensor<f32[batch = 4, seq = 8, heads = 2, head = 6]>
!weight = !titan.tensor<f32[embed = 16, heads = 2, head = 6]>

// CHECK: namespace train {
// CHECK: {{.*}}constexpr int64_t batch = 4;
// CHECK: void run(Context &ctx) {
func.func @train(%x: !hidden {titan.input = "x"}, %w: !weight {titan.param = "w"}, %dy: !query {titan.input = "dy"})
    -> (!query {titan.output = "y"}, !hidden {titan.output = "dx"}, !weight {titan.gradient = "w"},
        !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8]> {titan.output = "scores"},
        !titan.tensor<f32[]> {titan.output = "norm"}, !titan.tensor<f32[embed = 16, batch = 4, seq = 8]> {titan.output = "t"})
    attributes {titan.program = "train"} {
  // CHECK: gemm(ctx, x, w, y,
  // CHECK-NEXT: {.m = batch * seq, .n = heads * head, .k = embed,
  // CHECK-NEXT: .lda = embed, .ldb = heads * head, .ldc = heads * head});
  %y = titan.contract %x, %w : (!hidden, !weight) -> !query loc("y")
  // The data gradient takes the weight transposed.
  // CHECK: gemm(ctx, dy, w, dx,
  // CHECK-NEXT: {.m = batch * seq, .n = embed, .k = heads * head,
  // CHECK-NEXT: .transposeB = true, .lda = heads * head, .ldb = heads * head, .ldc = embed});
  %dx = titan.contract %dy, %w : (!query, !weight) -> !hidden loc("dx")
  // The weight gradient sums over the rows.
  // CHECK: gemm(ctx, x, dy, dw,
  // CHECK-NEXT: {.m = embed, .n = heads * head, .k = batch * seq,
  // CHECK-NEXT: .transposeA = true, .lda = embed, .ldb = heads * head, .ldc = heads * head});
  %dw = titan.contract %x, %dy : (!hidden, !query) -> !weight loc("dw")
  // Of two batch dimensions, the product walks one and a loop the other.
  // CHECK: for (int64_t i = 0; i < batch; ++i) {
  // CHECK-NEXT: gemm(ctx, y + i * (seq * heads * head), dy + i * (keys * heads * head), scores + i * (heads * seq * keys),
  // CHECK-NEXT: {.m = seq, .n = keys, .k = head,
  // CHECK-NEXT: .transposeB = true, .lda = heads * head, .ldb = heads * head, .ldc = keys,
  // CHECK-NEXT: .batch = heads, .strideA = head, .strideB = head, .strideC = seq * keys});
  %k = titan.rename %dy : !query -> !titan.tensor<f32[batch = 4, keys = 8 of seq, heads = 2, head = 6]> loc("k")
  %scores = titan.contract %y, %k : (!query, !titan.tensor<f32[batch = 4, keys = 8 of seq, heads = 2, head = 6]>)
      -> !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8 of seq]> loc("scores")
  %scores1 = titan.rename %scores : !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8 of seq]> -> !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8]>
  // A product without a free dimension is a sum, in chunks that do not depend on the threads.
  // CHECK: tm::dot(ctx, norm, x, x, batch * seq * embed);
  %norm = titan.contract %x, %x : (!hidden, !hidden) -> !titan.tensor<f32[]> loc("norm")
  // A result whose rows vary fastest is computed transposed, with the operands exchanged.
  // CHECK: gemm(ctx, u, x, t,
  // CHECK-NEXT: {.m = out, .n = batch * seq, .k = embed,
  %u = titan.constant 1.0 : !titan.tensor<f32[]> loc("c")
  %e = titan.expand %u : !titan.tensor<f32[]> -> !titan.tensor<f32[out = 16, embed = 16]> loc("u")
  %t = titan.contract %x, %e : (!hidden, !titan.tensor<f32[out = 16, embed = 16]>) -> !titan.tensor<f32[out = 16, batch = 4, seq = 8]> loc("t")
  %t1 = titan.rename %t : !titan.tensor<f32[out = 16, batch = 4, seq = 8]> -> !titan.tensor<f32[embed = 16, batch = 4, seq = 8]>
  return %y, %dx, %dw, %scores1, %norm, %t1 : !query, !hidden, !weight, !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8]>, !titan.tensor<f32[]>, !titan.tensor<f32[embed = 16, batch = 4, seq = 8]>
}
