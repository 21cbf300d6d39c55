// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s

// A slice is copied from its operand at an offset; a pad reads the copy.

!x = !titan.tensor<f32[seq = 4, embed = 8]>
!part = !titan.tensor<f32[seq = 4, front = 2 of embed]>
!one = !titan.tensor<f32[first = 1 of seq, embed = 8]>

// CHECK-LABEL: void run(Context &ctx) {
func.func @train(%x: !x {titan.input = "x"} loc("x"))
    -> (!x {titan.output = "padded"}, !titan.tensor<f32[embed = 8]> {titan.output = "row"})
    attributes {titan.program = "train"} {
  // CHECK: part_[{{.*}}] = (x_ + 3)[{{.*}} * embed_ + {{.*}}];
  %part = titan.slice %x dim "embed" from 3 : !x -> !part loc("part")
  // CHECK: for (int64_t [[I:[a-z]+]] = 0; [[I]] < embed_; ++[[I]]) {
  // CHECK-NEXT: padded_[{{.*}}] = [[I]] >= 3 && [[I]] < 3 + front_ ? part_[{{.*}} * front_ + [[I]] - 3] : float(0);
  %padded = titan.pad %part dim "embed" from 3 : !part -> !x loc("padded")
  // A sum over one element has no loop.
  // CHECK: (x_ + 2 * embed_)
  %first = titan.slice %x dim "seq" from 2 : !x -> !one loc("first")
  // CHECK: for (int64_t [[J:[a-z]+]] = 0; [[J]] < embed_; ++[[J]]) {
  // CHECK-NEXT: float total = float(0);
  // CHECK-NEXT: total += first{{.*}}{{\[}}[[J]]];
  // CHECK-NEXT: row{{.*}}{{\[}}[[J]]] = total;
  %row = titan.reduce sum %first : !one -> !titan.tensor<f32[embed = 8]> loc("row")
  return %padded, %row : !x, !titan.tensor<f32[embed = 8]>
}
