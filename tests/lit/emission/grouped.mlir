// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s -o %t.mlir
// RUN: titan-translate --titan-to-cpp %t.mlir | FileCheck %s
// RUN: titan-translate --titan-to-cuda %t.mlir | FileCheck %s --check-prefix=CUDA

dist.mesh @mesh [#dist.axis<ep = 2>]
!x = !titan.tensor<f32[seq = 64, embed = 16], <[{}, {}]>>
!w = !titan.tensor<f32[experts = 8, embed = 16, ffn = 24], <[{ep}, {}, {}]>>
!i = !titan.tensor<i64[seq = 64, slot = 2], <[{}, {}]>>
!y = !titan.tensor<f32[seq = 64, slot = 2, ffn = 24], <[{}, {}, {}] partial sum {ep}>>
!sum = !titan.tensor<f32[seq = 64, embed = 16], <[{}, {}] partial sum {ep}>>
!dy = !titan.tensor<f32[seq = 64, slot = 2, ffn = 24], <[{}, {}, {}]>>

// CHECK-LABEL: void run(Context &ctx) {
func.func @train(%x: !x {titan.input = "x"} loc("x"), %w: !w {titan.param = "w", titan.init = #titan.init<constant, [0.0]>} loc("w"), %i: !i {titan.input = "i"} loc("i"), %dy: !dy {titan.input = "dy"} loc("dy"))
    -> (!y {titan.output = "y", titan.unreduced}, !w {titan.output = "dw"}, !sum {titan.output = "sum", titan.unreduced})
    attributes {titan.program = "train"} {
  // Rows of other ranks' experts stay 0. Rows are ordered by expert, and blocks of the rows of an
  // expert are packed for one product.
  // CHECK: tm::fill(ctx, y_,
  // CHECK: tm::groupByRow(ctx, ends{{.*}}, experts_ep_, order{{.*}}, seq_ * slot_,
  // CHECK: for (int64_t at = 0; at < experts_ep_; ++at) {
  // CHECK: auto *[[E:element[_0-9]*]] = w_ + at * (embed_ * ffn_);
  // CHECK: for (int64_t [[F:first[_0-9]*]] = tm::groupBegin({{.*}}; [[F]] += 512) {
  // CHECK: tm::forEachRow([[N:count[_0-9]*]], embed_, [&](int64_t p) {
  // CHECK: gemm(ctx, [[L:left[_0-9]*]], [[E]], [[R:right[_0-9]*]],
  // CHECK-NEXT: {.m = [[N]], .n = ffn_, .k = embed_,
  // CHECK: tm::forEachRow([[N]], ffn_, [&](int64_t p) {
  // CUDA: tm::launch(ctx, seq_ * slot_ * ffn_
  // CUDA: total.add(
  %y = titan.grouped_contract %x, %w along "experts" at %i : (!x, !w, !i) -> !y loc("y")
  // The gradient of the table accumulates the products of blocks.
  // CHECK: tm::fill(ctx, dw_,
  // CHECK: auto *[[E:element[_0-9]*]] = dw_ + at * (embed_ * ffn_);
  // CHECK: gemm(ctx, [[L:left[_0-9]*]], [[R:right[_0-9]*]], [[E]],
  // CHECK-NEXT: {.m = embed_, .n = ffn_, .k = [[N:count[_0-9]*]],
  // CHECK-NEXT: .transposeA = true, .accumulate = true,
  // CUDA: tm::groupByRow(ctx, ends
  // CUDA: tm::launch(ctx, experts_ep_ * embed_ * ffn_
  %dw = titan.grouped_contract %x, %dy along "experts" at %i : (!x, !dy, !i) -> !w loc("dw")
  // Rows of one sum are adjacent in the order of an expert, and one thread adds them.
  // CHECK: tm::fill(ctx, sum_,
  // CHECK: tm::forEachRow([[N:count[_0-9]*]], embed_, [&](int64_t p) {
  // CHECK-NEXT: const int64_t row = [[O:order[_0-9]*]]{{\[}}[[F:first[_0-9]*]] + p] / slot_;
  // CHECK-NEXT: if (p > 0 && [[O]]{{\[}}[[F]] + p - 1] / slot_ == row)
  // CHECK-NEXT: return;
  // CHECK-NEXT: for (; p < [[N]] && [[O]]{{\[}}[[F]] + p] / slot_ == row; ++p) {
  // CHECK: sum_[{{.*}}] += right
  // CUDA: tm::launch(ctx, seq_ * embed_
  // CUDA: for (int64_t {{.*}} < slot_;
  // CUDA: total.add(
  %sum = titan.grouped_contract %dy, %w along "experts" at %i : (!dy, !w, !i) -> !sum loc("sum")
  return %y, %dw, %sum : !y, !w, !sum
}
