// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s -o %t.mlir
// RUN: titan-translate --titan-to-cpp %t.mlir | FileCheck %s
// RUN: titan-translate --titan-to-cuda %t.mlir | FileCheck %s --check-prefix=CUDA

// Sums of many terms are computed in blocks, which are added in double (blocked_sum.h); sums of few terms are not.

!row = !titan.tensor<f32[seq = 64]>
!wide = !titan.tensor<f32[seq = 64, vocab = 1000]>
!heads = !titan.tensor<f32[seq = 64, heads = 32, head = 8]>
!head = !titan.tensor<f32[seq = 64, head = 8]>
!table = !titan.tensor<f32[rows = 10, vocab = 1000]>

// CHECK-LABEL: void run(Context &ctx) {
// CUDA-LABEL: void run(Context &ctx) {
func.func @train(%x: !wide {titan.input = "x"} loc("x"), %q: !heads {titan.input = "q"} loc("q"),
                 %at: !titan.tensor<i64[seq = 64]> {titan.input = "where"} loc("where"))
    -> (!row {titan.output = "rows"}, !row {titan.output = "fused"}, !head {titan.output = "kept"},
        !table {titan.output = "table"}, !titan.tensor<f32[heads = 32]> {titan.output = "outer"})
    attributes {titan.program = "train"} {
  // Along the innermost dimension, in the lanes of vectors.
  // CHECK: double total = 0;
  // CHECK-NEXT: for (int64_t j0 = 0; j0 < vocab_; j0 += tm::kLaneBlock) {
  // CHECK-NEXT: float part = 0;
  // CHECK-NEXT: #pragma omp simd reduction(+:part)
  // CHECK-NEXT: for (int64_t j = j0; j < tm::blockEnd(j0, vocab_); ++j) {
  // CHECK-NEXT: part += x_[i * vocab_ + j];
  // CHECK-NEXT: }
  // CHECK-NEXT: total += part;
  // CHECK: rows_{{.*}}[i] = float(total);
  // CUDA: tm::Sum<float> total;
  // CUDA: total.add(x_[i * vocab_ + j]);
  // CUDA: rows_{{.*}}[i] = float(total.get());
  %rows = titan.reduce sum %x : !wide -> !row loc("rows")
  // In a fused region: a scalar per row, and a sum per row that keeps one dimension.
  // CHECK: double [[S:s.*_]]total_ = 0;
  // CHECK: #pragma omp simd reduction(+:[[S]]part_)
  // CHECK: [[S]]part_ += tm::exp(
  // CHECK: [[S]]total_ += [[S]]part_;
  // CHECK: const float [[S]] = float([[S]]total_);
  // CUDA: tm::Sum<float> [[S:s.*_]]total_;
  // CUDA: [[S]]total_.add(tm::exp(
  // CUDA: const float [[S]] = float(tm::reduceBlock<tm::Plus>([[S]]total_.get()));
  %fused = titan.fused rows ["seq"] : !row {
    %e = titan.exp %x : !wide -> !wide loc("e")
    %s = titan.reduce sum %e : !wide -> !row loc("s")
    titan.yield %s : !row
  } loc("fused")
  // CHECK: alignas(64) double k_total_[head_];
  // CHECK: k_total_[j] += tm::exp(
  // CHECK: k_{{.*}}[row * head_ + i] = float(k_total_[i]);
  // CUDA: __shared__ double k_total_[head_];
  %kept = titan.fused rows ["seq"] : !head {
    %e = titan.exp %q : !heads -> !heads loc("e")
    %k = titan.reduce sum %e : !heads -> !head loc("k")
    titan.yield %k : !head
  } loc("kept")
  // All terms of a row of the table are summed before the sum is added to the row.
  // CHECK: tm::groupByRow(ctx, ends_, rows_, order_, seq_, [=] TM_LAMBDA(int64_t i) -> int64_t {
  // CHECK-NEXT: const int64_t at = where_[i];
  // CHECK-NEXT: return at >= 0 && at < rows_ ? at : -1;
  // CHECK: #pragma omp parallel for
  // CHECK-NEXT: for (int64_t j0 = 0; j0 < vocab_; j0 += 64) {
  // CHECK-NEXT: for (int64_t at = 0; at < rows_; ++at) {
  // CHECK: total.add(ends_[row] - begin, [&](int64_t p, int64_t j) {
  // CHECK-NEXT: const int64_t i = order_[begin + p];
  // CHECK-NEXT: return x_[i * vocab_ + (j0 + j)];
  // CHECK: table_[(j0 + j) + at * vocab_] += total[j];
  // CUDA: tm::groupByRow(
  // CUDA: tm::launch(ctx, rows_ * vocab_,
  // CUDA: total.add(x_[i * vocab_ + j]);
  // CUDA: table_[j + at * vocab_] += float(total.get());
  %table = titan.scatter %x along "rows" at %at : (!wide, !titan.tensor<i64[seq = 64]>) -> !table loc("table")
  // A sum over two dimensions: each short inner loop is one block of the sum.
  // CHECK: double total = 0;
  // CHECK-NEXT: for (int64_t i = 0; i < seq_; ++i) {
  // CHECK-NEXT: float part = 0;
  // CHECK-NEXT: #pragma omp simd reduction(+:part)
  // CHECK-NEXT: for (int64_t k = 0; k < head_; ++k) {
  %outer = titan.reduce sum %q : !heads -> !titan.tensor<f32[heads = 32]> loc("outer")
  return %rows, %fused, %kept, %table, %outer : !row, !row, !head, !table, !titan.tensor<f32[heads = 32]>
}

// The memory for grouping updates by their row is planned; few updates per element need none.
// RUN: FileCheck %s --check-prefix=MEMORY --input-file=%t.mlir
// MEMORY-LABEL: func.func @train
// MEMORY: #titan.allocation<"scatter_scratch", !titan.tensor<i64[seq = 64]{{.*}}>, [[NOW:.*]] to [[NOW]]>, #titan.allocation<"scatter_scratch", !titan.tensor<i64[rows = 10]{{.*}}>, [[NOW]] to [[NOW]]>
// MEMORY: titan.scatter {{.*}} titan.scratch = [#titan.alloc_ref<transient {{.*}}>, #titan.alloc_ref<transient {{.*}}>]
