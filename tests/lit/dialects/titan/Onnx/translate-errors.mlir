// RUN: titan-translate --titan-to-onnx-text --split-input-file --verify-diagnostics %s

!x = !titan.tensor<f32[seq = 4]>

module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%x: !x {titan.input = "x"}) -> (!x {titan.output = "logits"}) attributes {titan.program = "logits"} {
    // expected-error @below {{`random` has no translation to ONNX}}
    %u = titan.random uniform "u" keys() : () -> !x
    %y = titan.add %x, %u : (!x, !x) -> !x
    return %y : !x
  }
}

// -----

!x = !titan.tensor<f32[seq = 4]>

module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @logits(%x: !x {titan.input = "x"}, %into: !x {titan.input = "into"}, %p: !titan.tensor<i64[]> {titan.input = "p"})
      -> (!x {titan.output = "logits"}) attributes {titan.program = "logits"} {
    // expected-error @below {{`insert_slice` has a translation to ONNX for caches only}}
    %y = titan.insert_slice %x into %into dim "seq" from %p : (!x, !x, !titan.tensor<i64[]>) -> !x
    return %y : !x
  }
}
