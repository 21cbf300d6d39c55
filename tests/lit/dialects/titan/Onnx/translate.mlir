// RUN: titan-translate --titan-to-onnx-text %s | FileCheck %s

!x = !titan.tensor<f32[batch = 1, seq = 4, embed = 6]>
!h = !titan.tensor<f32[seq = 4, heads = 2, batch = 1, head = 3]>

module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  // Samples are any number. Each slot of a stacked parameter is an input. What no output needs is left out.
  // CHECK: logits (int64[samples, 4] input_ids, float[9, 6] table, float[6, 2, 3] layers.0.w, float[6, 2, 3] layers.1.w)
  // CHECK-SAME: => (float[samples, 4, 6] logits)
  func.func @logits(%tokens: !titan.tensor<i64[batch = 1, seq = 4]> {titan.input = "tokens"},
                    %table: !titan.tensor<f32[vocab = 9, embed = 6]> {titan.param = "table"},
                    %w: !titan.tensor<f32[layers = 2, embed = 6, heads = 2, head = 3]> {titan.param = "layers.w", titan.stacked})
      -> (!x {titan.output = "logits"}) attributes {titan.program = "logits"} {
    // CHECK: [[X:gather.[0-9]+]] = Gather <axis = 0> (table, input_ids)
    %x = titan.gather %table along "vocab" at %tokens : (!titan.tensor<f32[vocab = 9, embed = 6]>, !titan.tensor<i64[batch = 1, seq = 4]>) -> !x
    %y = titan.repeat <layers = 2> iter_args(%x) scanned(%w)
        : (!x, !titan.tensor<f32[layers = 2, embed = 6, heads = 2, head = 3]>) -> !x {
    ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %slot: !titan.tensor<f32[embed = 6, heads = 2, head = 3]>):
      // One matrix product; its columns are two dimensions, which the result has in another order.
      // CHECK: [[M:reshape.[0-9]+]] = Reshape (layers.0.w,
      // CHECK-NEXT: [[P:matmul.[0-9]+]] = MatMul ([[X]], [[M]])
      // CHECK-NEXT: [[S:reshape.[0-9]+]] = Reshape ([[P]],
      // CHECK-NEXT: [[H:transpose.[0-9]+]] = Transpose <perm = [1, 2, 0, 3]> ([[S]])
      %h = titan.contract %c, %slot : (!x, !titan.tensor<f32[embed = 6, heads = 2, head = 3]>) -> !h
      // CHECK-NEXT: exp.{{[0-9]+}} = Exp ([[H]])
      %e = titan.exp %h : !h -> !h
      %unused = titan.log %h : !h -> !h
      // CHECK: MatMul
      %r = titan.contract %e, %slot : (!h, !titan.tensor<f32[embed = 6, heads = 2, head = 3]>) -> !x
      %s = titan.add %c, %r : (!x, !x) -> !x
      titan.yield %s : !x
    }
    // CHECK-NOT: Log
    // CHECK: Reshape (layers.1.w,
    // CHECK: logits = Identity
    return %y : !x
  }
}
