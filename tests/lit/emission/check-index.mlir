// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s -o %t.mlir
// RUN: titan-translate --titan-to-cpp %t.mlir | FileCheck %s
// RUN: titan-translate --titan-to-cuda %t.mlir | FileCheck %s

// A check reads the indices of this rank once, before their use, and compares them with the size of the dimension without padding. A check
// copies nothing. A rotation in a loop over chunks starts at the first position of the chunk.

dist.mesh @mesh [#dist.axis<tp = 2>]
!table = !titan.tensor<f32[rows = 28, embed = 4], <[{tp}, {}]>>
!at = !titan.tensor<i64[seq = 8], <[{}]>>
!sum = !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}] partial sum {tp}>>
!x = !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>>
!number = !titan.tensor<i64[], <[]>>

// CHECK-LABEL: void run(Context &ctx) {
func.func @train(%table: !table {titan.param = "table"} loc("table"), %tokens: !at {titan.input = "tokens"} loc("tokens"),
                 %start: !number {titan.scalar = "step"} loc("start"))
    -> (!x {titan.output = "x"}) attributes {titan.program = "train"} {
  %one = titan.constant 1 : !number
  // CHECK: next_[{{.*}}] = {{.*}}tokens_[{{.*}}] + int64_t(1)
  %next = titan.add %tokens, %one : (!at, !number) -> !at loc("next")
  // CHECK: tm::checkIndices(ctx, next_, seq_, 27, "rows");
  %fits = titan.check_index %next along "rows" size 27 : !at -> !at loc("fits")
  // CHECK: next_[
  %part = titan.gather %table along "rows" at %fits : (!table, !at) -> !sum loc("part")
  %whole = dist.all_reduce %part over ["tp"] : !sum -> !x loc("whole")
  // CHECK: {{rotation|rotationAt}}({{.*}}seq_at_ + start_[0], 100.0,
  %x = titan.rotary %whole along "seq" dim "embed" from %start : !number {theta = 100.0} : !x -> !x loc("x")
  return %x : !x
}
