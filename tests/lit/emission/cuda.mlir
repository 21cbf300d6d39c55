// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cuda | FileCheck %s

// On a device the same loop nests are kernels: one thread per element, or one block per row if the nest
// reduces along the row.

!row = !titan.tensor<f32[seq = 512]>
!hidden = !titan.tensor<f32[seq = 512, embed = 64]>

// CHECK-LABEL: void run(Context &ctx) {
func.func @train(%x: !hidden {titan.input = "x"}, %w: !titan.tensor<f32[embed = 64]> {titan.param = "w"})
    -> (!hidden {titan.output = "b"}, !hidden {titan.output = "y"}, !row {titan.output = "top"}, !titan.tensor<f32[embed = 64]> {titan.output = "columns"},
        !titan.tensor<f32[]> {titan.output = "all"})
    attributes {titan.program = "train"} {
  // CHECK: tm::launch(ctx, seq_ * embed_, [=] __device__(int64_t index) {
  // CHECK-NEXT: const int64_t i = index % embed_;
  // CHECK-NEXT: const int64_t row = (index / embed_);
  // CHECK-NEXT: b_[row * embed_ + i] = x_[row * embed_ + i] * w_[i];
  // CHECK-NEXT: });
  %b = titan.mul %x, %w : (!hidden, !titan.tensor<f32[embed = 64]>) -> !hidden loc("b")
  // CHECK: tm::launchRows(ctx, seq_, [=] __device__(int64_t row) {
  // CHECK: __shared__ float e_row_[embed_];
  // CHECK: for (int64_t i = threadIdx.x; i < embed_; i += blockDim.x) {
  // CHECK: top_1_ = tm::reduceBlock<tm::Max>(top_1_);
  // CHECK-NEXT: if (threadIdx.x == 0) top_[row] = top_1_;
  // A thread reads the results of other threads after all of them are done.
  // CHECK-NEXT: __syncthreads();
  // CHECK: y_[row * embed_ + i] = e_row_[i] - top_1_;
  %y, %top = titan.fused rows ["seq"] : !hidden, !row {
    %e = titan.exp %x : !hidden -> !hidden loc("e")
    %t = titan.reduce max %e : !hidden -> !row loc("top")
    %d = titan.sub %e, %t : (!hidden, !row) -> !hidden loc("y")
    titan.yield %d, %t : !hidden, !row
  }
  // CHECK: tm::launch(ctx, embed_, [=] __device__(int64_t j) {
  // CHECK-NEXT: tm::Sum<float> total;
  // CHECK: total.add(y_[i * embed_ + j]);
  %columns = titan.reduce sum %y : !hidden -> !titan.tensor<f32[embed = 64]> loc("columns")
  // CHECK: tm::sum(ctx, all_, y_, seq_ * embed_);
  %all = titan.reduce sum %y : !hidden -> !titan.tensor<f32[]> loc("all")
  return %b, %y, %top, %columns, %all : !hidden, !hidden, !row, !titan.tensor<f32[embed = 64]>, !titan.tensor<f32[]>
}

// A block's threads share the sums in a row buffer: each clears, adds and rounds its
// own elements, and a barrier precedes clearing elements that another thread may still read.
// CHECK-LABEL: void run(Context &ctx) {
// CHECK: __shared__ float sums_row_[b_];
// CHECK-NEXT: __syncthreads();
// CHECK-NEXT: for (int64_t i = threadIdx.x; i < b_; i += blockDim.x) {
// CHECK-NEXT: sums_row_[i] = float(0);
// CHECK-NEXT: }
// CHECK-NEXT: __syncthreads();
// CHECK-NEXT: for (int64_t i = 0; i < a_; ++i) {
// CHECK-NEXT: for (int64_t j = threadIdx.x; j < b_; j += blockDim.x) {
// CHECK: __syncthreads();
// CHECK-NEXT: for (int64_t i = threadIdx.x; i < b_; i += blockDim.x) {
// CHECK-NEXT: sums_row_[i] = float(bf16(sums_row_[i]));
func.func @logits(%x: !titan.tensor<bf16[seq = 16, a = 3, b = 40]> {titan.input = "x"})
    -> (!titan.tensor<bf16[seq = 16, b = 40]> {titan.output = "sums"})
    attributes {titan.program = "logits"} {
  %sums = titan.fused rows ["seq"] : !titan.tensor<bf16[seq = 16, b = 40]> {
    %e = titan.exp %x : !titan.tensor<bf16[seq = 16, a = 3, b = 40]> -> !titan.tensor<bf16[seq = 16, a = 3, b = 40]>
    %s = titan.reduce sum %e : !titan.tensor<bf16[seq = 16, a = 3, b = 40]> -> !titan.tensor<bf16[seq = 16, b = 40]> loc("sums")
    titan.yield %s : !titan.tensor<bf16[seq = 16, b = 40]>
  }
  return %sums : !titan.tensor<bf16[seq = 16, b = 40]>
}
