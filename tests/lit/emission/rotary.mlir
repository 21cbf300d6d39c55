// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s
// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cuda | FileCheck %s --check-prefix=CUDA

// Frequencies are powers of theta, or a list in the operation.

!x = !titan.tensor<f32[seq = 4, head = 4]>

// CHECK-LABEL: void run(Context &ctx) {
func.func @train(%x: !x {titan.input = "x"} loc("x"))
    -> (!x {titan.output = "plain"}, !x {titan.output = "slow"}) attributes {titan.program = "train"} {
  // CHECK: tm::rotation({{.*}}, 10000.0, head_ / 2, cosines, sines);
  // CUDA: tm::rotationAt({{.*}}, 10000.0, p, head_ / 2, cosine, sine);
  %plain = titan.rotary %x along "seq" dim "head" {theta = 1.0e4} : !x -> !x loc("plain")
  // CHECK: const double frequencies_[] = {1.0, 0.125};
  // CHECK: tm::rotation({{.*}}, frequencies_, head_ / 2, cosines, sines);
  // CUDA: const double frequencies_[] = {1.0, 0.125};
  // CUDA: tm::rotationAt({{.*}}, frequencies_, p, head_ / 2, cosine, sine);
  %slow = titan.rotary %x along "seq" dim "head" {frequencies = array<f64: 1.0, 0.125>} : !x -> !x loc("slow")
  return %plain, %slow : !x, !x
}
