// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s

// A repeat is one function for its body and one loop. Scanned inputs and stacked outputs are pointers that
// advance with the layer, and iteration arguments have one allocation.

!hidden = !titan.tensor<f32[seq = 8, embed = 4]>
!stack = !titan.tensor<f32[layers = 3, seq = 8, embed = 4]>

// CHECK: {{.*}}constexpr int64_t layers_ = 3;
// CHECK: void layers_body_(Context &ctx, {{.*}}int64_t l) {
// CHECK: float *c_ = transient<float>(ctx, [[CARRIED:[0-9]+]]);
// A stacked iteration argument is copied before it is overwritten.
// CHECK-NEXT: tm::copy(ctx, transient<float>(ctx, [[STACK:[0-9]+]]) + l * (seq_ * embed_), c_, seq_ * embed_);
// CHECK: float *w_ = persistent<float>(ctx, 1) + l * (seq_ * embed_);
// CHECK-NEXT: float *sum_ = transient<float>(ctx, [[CARRIED]]);
// CHECK: sum_[i] = c_[i] + w_[i];
// CHECK: void layers_backward_(Context &ctx, {{.*}}int64_t l) {
// CHECK: transient<float>(ctx, [[STACK]]) + l * (seq_ * embed_)
// CHECK: void run(Context &ctx) {
// The initial value is a parameter and must not change, so it is copied.
// CHECK: tm::copy(ctx, transient<float>(ctx, [[CARRIED]]), x_, seq_ * embed_);
// CHECK: for (int64_t l = 0; l < layers_; ++l)
// CHECK-NEXT: layers_body_(ctx, l);
// CHECK: for (int64_t l = layers_ - 1; l >= 0; --l)
// CHECK-NEXT: layers_backward_(ctx, l);
func.func @train(%x: !hidden {titan.param = "x"} loc("x"), %ws: !stack {titan.param = "ws", titan.stacked} loc("ws"))
    -> (!hidden {titan.output = "y"}) attributes {titan.program = "train"} {
  %y, %cs = titan.repeat <layers = 3> iter_args(%x) scanned(%ws) : (!hidden, !stack) -> (!hidden, !stack) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !hidden loc("c"), %w: !hidden loc("w")):
    %sum = titan.add %c, %w : (!hidden, !hidden) -> !hidden loc("sum")
    titan.yield %sum, %c : !hidden, !hidden
  } loc("y")
  %z = titan.repeat <layers = 3> reverse iter_args(%y) scanned(%cs) : (!hidden, !stack) -> !hidden {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !hidden loc("c"), %r: !hidden loc("r")):
    %sum = titan.mul %c, %r : (!hidden, !hidden) -> !hidden loc("sum")
    titan.yield %sum : !hidden
  } loc("z")
  return %z : !hidden
}
