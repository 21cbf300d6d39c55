// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s

// bf16 is a memory type: elements are loaded as float, computed in float, and every defined value is rounded, by
// its store or, if the value stays in a register, explicitly. Sums are float until they are complete.

!row = !titan.tensor<bf16[seq = 512]>
!x = !titan.tensor<bf16[seq = 512, embed = 64]>
!wide = !titan.tensor<f32[seq = 512, embed = 64]>
!w = !titan.tensor<bf16[embed = 64, out = 32]>
!y = !titan.tensor<bf16[seq = 512, out = 32]>
!dw = !titan.tensor<f32[embed = 64, out = 32]>
!s = !titan.tensor<bf16[]>

// CHECK-LABEL: void run(Context &ctx) {
func.func @train(%x: !x {titan.input = "x"} loc("x"), %w: !w {titan.param = "w"} loc("w"),
                 %ids: !titan.tensor<i64[seq = 512]> {titan.input = "ids"} loc("ids"))
    -> (!x {titan.output = "a"}, !wide {titan.output = "b"}, !x {titan.output = "z"}, !row {titan.output = "picked"},
        !y {titan.output = "y"}, !dw {titan.output = "dw"}, !row {titan.output = "columns"}, !s {titan.output = "whole"})
    attributes {titan.program = "train"} {
  // CHECK: a_[i] = tm::exp(float(x_[i]));
  %a = titan.exp %x : !x -> !x loc("a")
  // CHECK: b_[i] = float(float(a_[i]));
  %b = titan.cast %a : !x -> !wide loc("b")
  // A constant has the digits of its type; row buffers hold values that are rounded as in memory.
  // CHECK: alignas(64) float e_row_[embed_];
  // CHECK: float sum_ = float(0);
  // CHECK: const float e_at_ = float(bf16(tm::exp(float(x_[row * embed_ + i]))));
  // CHECK: sum_ += e_at_;
  // CHECK: sum_ = float(bf16(sum_));
  // CHECK: z_[row * embed_ + i] = float(bf16(e_row_[i] / sum_)) * float(0.10009765625);
  %z, %picked = titan.fused rows ["seq"] : !x, !row {
    %tenth = titan.constant 0.1 : !s
    %e = titan.exp %x : !x -> !x loc("e")
    %sum = titan.reduce sum %e : !x -> !row loc("sum")
    %d = titan.div %e, %sum : (!x, !row) -> !x loc("d")
    %m = titan.mul %d, %tenth : (!x, !s) -> !x loc("z")
    %p = titan.gather %x along "embed" at %ids : (!x, !titan.tensor<i64[seq = 512]>) -> !row loc("picked")
    titan.yield %m, %p : !x, !row
  }
  // A product is rounded to the type of the result.
  // CHECK: bf16 *y_ = {{.*}}<bf16>(ctx,
  // CHECK: gemm(ctx, x_, w_, y_,
  %y = titan.contract %x, %w : (!x, !w) -> !y loc("y")
  // CHECK: float *dw_ = {{.*}}<float>(ctx,
  // CHECK: gemm(ctx, x_, y_, dw_,
  %dw = titan.contract %x, %y : (!x, !y) -> !dw loc("dw")
  // CHECK: float total
  // CHECK: total += float(x_[{{.*}}]);
  // CHECK: columns_[{{.*}}] = total;
  %columns = titan.reduce sum %x : !x -> !row loc("columns")
  // CHECK: tm::sum(ctx, whole_, x_, seq_ * embed_);
  %whole = titan.reduce sum %x : !x -> !s loc("whole")
  return %a, %b, %z, %picked, %y, %dw, %columns, %whole : !x, !wide, !x, !row, !y, !dw, !row, !s
}

!q = !titan.tensor<bf16[seq = 8, head = 4]>
!lse = !titan.tensor<f32[seq = 8]>
!chosen = !titan.tensor<bf16[seq = 8, chosen = 2]>
!places = !titan.tensor<i64[seq = 8, chosen = 2]>
!key = !titan.tensor<i64[]>

// The log-sum-exp of attention is a float, and so is a running sum; selected elements are unchanged.
// CHECK-LABEL: void run(Context &ctx) {
func.func @logits(%q: !q {titan.input = "q"} loc("q"))
    -> (!q {titan.output = "y"}, !q {titan.output = "sums"}, !chosen {titan.output = "values"}, !q {titan.output = "u"})
    attributes {titan.program = "logits"} {
  // CHECK: bf16 *y_ = {{.*}}<bf16>(ctx,
  // CHECK: float *[[LSE:.*]] = {{.*}}<float>(ctx,
  // CHECK: attention(ctx, q_, q_, q_, y_, [[LSE]],
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !lse) loc("y")
  // CHECK: double total = 0;
  // CHECK: total += float(q_[
  // CHECK-NEXT: sums_[{{.*}}] = float(total);
  %sums = titan.cumulative_sum %q along "seq" : !q -> !q loc("sums")
  // CHECK: tm::topK(q_
  %values, %at = titan.top_k %q along "head" : !q -> !chosen, !places loc("values")
  // CHECK: u_[i] = tm::uniform<float>(
  %zero = titan.constant 0 : !key
  %u = titan.random uniform "u" keys(%zero) : (!key) -> !q loc("u")
  return %y, %sums, %values, %u : !q, !q, !chosen, !q
}
