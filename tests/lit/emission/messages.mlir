// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cpp | FileCheck %s
// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s | titan-translate --titan-to-cuda | FileCheck %s

// Permutes, messages and all-to-alls, synchronous and started. The program lists its routes, whose groups
// the runtime connects at the start.
dist.mesh @mesh [#dist.axis<pp = 2>, #dist.axis<cp = 2>]
!rows = !titan.tensor<f32[seq = 8, heads = 4], <[{cp}, {}]>>
!columns = !titan.tensor<f32[seq = 8, heads = 4], <[{}, {cp}]>>

// CHECK: void run(Context &ctx) {
func.func @train(%x: !rows {titan.input = "x"})
    -> (!columns {titan.output = "c"}, !rows {titan.output = "p"}, !rows {titan.output = "r"})
    attributes {titan.program = "train"} {
  // CHECK: allToAll(ctx, over<mesh::cp_>(), DType::F32,
  // CHECK-NEXT: {{[{][{]}}x_, f_, 1, heads_, 1, seq_cp_, 1, true}}, 0);
  %f = dist.all_to_all %x over ["cp"] start 0 : !rows -> !columns loc("f")
  // CHECK: permute(ctx, over<mesh::cp_>(), DType::F32, 1,
  // CHECK-NEXT: {{[{][{]}}x_, p_, 1, seq_cp_ * heads_, 1}});
  %p = dist.permute %x over ["cp"] by 1 : !rows -> !rows loc("p")
  // CHECK: finish(ctx, 0);
  %c = dist.wait 0 %f reading %x : (!columns, !rows) -> !columns loc("c")
  // A rank without a sender keeps the operand.
  // CHECK: receive(ctx, over<mesh::pp_>(), DType::F32, 1, r_, seq_cp_ * heads_);
  %r = dist.receive %x over ["pp"] by 1 : !rows -> !rows loc("r")
  // CHECK: send(ctx, over<mesh::pp_>(), DType::F32, 1, p_, seq_cp_ * heads_, 1);
  dist.send %p over ["pp"] by 1 start 1 : !rows
  // CHECK: finish(ctx, 1);
  dist.wait 1 reading %p : (!rows) -> ()
  return %c, %p, %r : !columns, !rows, !rows
}

// CHECK: p.routes.push_back({{[{][{]}}mesh::pp_}, 1});
