// RUN: titan-opt %s -split-input-file -verify-diagnostics

// C1: the results are the yielded values.
func.func @types(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error@+1 {{(C1) expected a yield of the results' types}}
  %y = titan.fused rows ["seq"] : !titan.tensor<f32[seq = 8]> {
    titan.yield
  }
  return
}

// -----

// C2: a value without the dimensions of the rows.
func.func @rows(%x: !titan.tensor<f32[seq = 8, embed = 4]>) {
  // expected-error@+1 {{(C2) 'titan.reduce' lacks a dimension of the rows ["seq"]}}
  %y = titan.fused rows ["seq"] : !titan.tensor<f32[embed = 4]> {
    %s = titan.reduce sum %x : !titan.tensor<f32[seq = 8, embed = 4]> -> !titan.tensor<f32[embed = 4]>
    titan.yield %s : !titan.tensor<f32[embed = 4]>
  }
  return
}
