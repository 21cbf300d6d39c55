// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s

// Elementwise operations alone are one loop if all operands are contiguous, and loops over rows if
// an operand is broadcast. In a fused region, operations share loops, and row buffers hold values that a later
// loop reads.

!row = !titan.tensor<f32[seq = 512]>
!hidden = !titan.tensor<f32[seq = 512, embed = 64]>

// CHECK-LABEL: void run(Context &ctx) {
func.func @train(%x: !hidden {titan.input = "x"} loc("x"), %w: !titan.tensor<f32[embed = 64]> {titan.param = "w"} loc("w"),
                 %ids: !titan.tensor<i64[seq = 512]> {titan.input = "ids"} loc("ids"))
    -> (!hidden {titan.output = "a"}, !hidden {titan.output = "b"}, !hidden {titan.output = "y"}, !row {titan.output = "picked"},
        !titan.tensor<f32[embed = 64]> {titan.output = "columns"})
    attributes {titan.program = "train"} {
  // CHECK: #pragma omp parallel for simd
  // CHECK-NEXT: for (int64_t i = 0; i < seq_ * embed_; ++i) {
  // CHECK-NEXT: a_[i] = tm::exp(x_[i]);
  %a = titan.exp %x : !hidden -> !hidden loc("a")
  // CHECK: #pragma omp parallel for
  // CHECK-NEXT: for (int64_t row = 0; row < seq_; ++row) {
  // CHECK-NEXT: #pragma omp simd
  // CHECK-NEXT: for (int64_t i = 0; i < embed_; ++i) {
  // CHECK-NEXT: b_[row * embed_ + i] = a_[row * embed_ + i] * w_[i];
  %b = titan.mul %a, %w : (!hidden, !titan.tensor<f32[embed = 64]>) -> !hidden loc("b")
  // CHECK: for (int64_t row = 0; row < seq_; ++row) {
  // CHECK-NEXT: const int64_t ids_at_ = ids_[row];
  // CHECK-NEXT: alignas(64) float e_row_[embed_];
  // CHECK-NEXT: float top_ = tm::lowest<float>();
  // CHECK-NEXT: #pragma omp simd reduction(max:top_)
  // CHECK-NEXT: for (int64_t i = 0; i < embed_; ++i) {
  // CHECK-NEXT: const float e_at_ = tm::exp(x_[row * embed_ + i]);
  // CHECK-NEXT: top_ = tm::max(top_, e_at_);
  // CHECK-NEXT: e_row_[i] = e_at_;
  %y, %picked = titan.fused rows ["seq"] : !hidden, !row {
    %e = titan.exp %x : !hidden -> !hidden loc("e")
    %top = titan.reduce max %e : !hidden -> !row loc("top")
    %d = titan.sub %e, %top : (!hidden, !row) -> !hidden loc("y")
    %p = titan.gather %d along "embed" at %ids : (!hidden, !titan.tensor<i64[seq = 512]>) -> !row loc("picked")
    titan.yield %d, %p : !hidden, !row
  }
  // A sum over the rows adds blocks of columns.
  // CHECK: for (int64_t j0 = 0; j0 < embed_; j0 += 64) {
  // CHECK: tm::ColumnSums<float> total(width);
  // CHECK-NEXT: total.add(seq_, [&](int64_t i, int64_t j) { return y_[i * embed_ + (j0 + j)]; });
  // CHECK: columns_[(j0 + j)] = total[j];
  %columns = titan.reduce sum %y : !hidden -> !titan.tensor<f32[embed = 64]> loc("columns")
  return %a, %b, %y, %picked, %columns : !hidden, !hidden, !hidden, !row, !titan.tensor<f32[embed = 64]>
}
