// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s

// Contractions become matrix products: contiguous dimensions are merged, and the storage order
// determines transposition.

!hidden = !titan.tensor<f32[batch = 4, seq = 8, embed = 16]>
!query = !titan.tensor<f32[batch = 4, seq = 8, heads = 2, head = 6]>
!weight = !titan.tensor<f32[embed = 16, heads = 2, head = 6]>

// CHECK: namespace train_ {
// CHECK: {{.*}}constexpr int64_t batch_ = 4;
// CHECK: void run(Context &ctx) {
func.func @train(%x: !hidden {titan.input = "x"}, %w: !weight {titan.param = "w"}, %dy: !query {titan.input = "dy"})
    -> (!query {titan.output = "y"}, !hidden {titan.output = "dx"}, !weight {titan.gradient = "w"},
        !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8]> {titan.output = "scores"},
        !titan.tensor<f32[]> {titan.output = "norm"}, !titan.tensor<f32[embed = 16, batch = 4, seq = 8]> {titan.output = "t"})
    attributes {titan.program = "train"} {
  // CHECK: gemm(ctx, x_, w_, y_,
  // CHECK-NEXT: {.m = batch_ * seq_, .n = heads_ * head_, .k = embed_,
  // CHECK-NEXT: .lda = embed_, .ldb = heads_ * head_, .ldc = heads_ * head_});
  %y = titan.contract %x, %w : (!hidden, !weight) -> !query loc("y")
  // The data gradient is a product with the transposed weight.
  // CHECK: gemm(ctx, dy_, w_, dx_,
  // CHECK-NEXT: {.m = batch_ * seq_, .n = embed_, .k = heads_ * head_,
  // CHECK-NEXT: .transposeB = true, .lda = heads_ * head_, .ldb = heads_ * head_, .ldc = embed_});
  %dx = titan.contract %dy, %w : (!query, !weight) -> !hidden loc("dx")
  // The weight gradient sums over the rows.
  // CHECK: gemm(ctx, x_, dy_, dw_,
  // CHECK-NEXT: {.m = embed_, .n = heads_ * head_, .k = batch_ * seq_,
  // CHECK-NEXT: .transposeA = true, .lda = embed_, .ldb = heads_ * head_, .ldc = heads_ * head_});
  %dw = titan.contract %x, %dy : (!hidden, !query) -> !weight loc("dw")
  // Of two batch dimensions, the product walks one and a loop the other.
  // CHECK: for (int64_t i = 0; i < batch_; ++i) {
  // CHECK-NEXT: gemm(ctx, y_ + i * (seq_ * heads_ * head_), dy_ + i * (keys_ * heads_ * head_), scores_ + i * (heads_ * seq_ * keys_),
  // CHECK-NEXT: {.m = seq_, .n = keys_, .k = head_,
  // CHECK-NEXT: .transposeB = true, .lda = heads_ * head_, .ldb = heads_ * head_, .ldc = keys_,
  // CHECK-NEXT: .batch = heads_, .strideA = head_, .strideB = head_, .strideC = seq_ * keys_});
  %k = titan.rename %dy : !query -> !titan.tensor<f32[batch = 4, keys = 8 of seq, heads = 2, head = 6]> loc("k")
  %scores = titan.contract %y, %k : (!query, !titan.tensor<f32[batch = 4, keys = 8 of seq, heads = 2, head = 6]>)
      -> !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8 of seq]> loc("scores")
  %scores1 = titan.rename %scores : !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8 of seq]> -> !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8]>
  // A product without a free dimension is a sum, in chunks that do not depend on the threads.
  // CHECK: tm::dot(ctx, norm_, x_, x_, batch_ * seq_ * embed_);
  %norm = titan.contract %x, %x : (!hidden, !hidden) -> !titan.tensor<f32[]> loc("norm")
  // A result whose rows vary fastest is computed transposed, with the operands exchanged.
  // CHECK: gemm(ctx, u_, x_, t_,
  // CHECK-NEXT: {.m = out_, .n = batch_ * seq_, .k = embed_,
  %u = titan.constant 1.0 : !titan.tensor<f32[]> loc("c")
  %e = titan.expand %u : !titan.tensor<f32[]> -> !titan.tensor<f32[out = 16, embed = 16]> loc("u")
  %t = titan.contract %x, %e : (!hidden, !titan.tensor<f32[out = 16, embed = 16]>) -> !titan.tensor<f32[out = 16, batch = 4, seq = 8]> loc("t")
  %t1 = titan.rename %t : !titan.tensor<f32[out = 16, batch = 4, seq = 8]> -> !titan.tensor<f32[embed = 16, batch = 4, seq = 8]>
  return %y, %dx, %dw, %scores1, %norm, %t1 : !query, !hidden, !weight, !titan.tensor<f32[batch = 4, heads = 2, seq = 8, keys = 8]>, !titan.tensor<f32[]>, !titan.tensor<f32[embed = 16, batch = 4, seq = 8]>
}
