// RUN: titan-opt %s --titan-count-flops -split-input-file | FileCheck %s

// Per step: 3 iterations with 2 * 32 * 4 * 4 for the product and 32 * 4 for the sum, then a reduction of
// 128 elements: 3 * (1024 + 128) + 128 = 3584; with 32 tokens, 112 per token.
// CHECK: titan.flops_per_token = 1.120000e+02 : f64

!x = !titan.tensor<f32[batch = 4, seq = 8, embed = 4]>
module attributes {titan.sizes = {samples = 4 : i64, positions = 8 : i64}} {
  func.func @train(%x: !x, %w: !titan.tensor<f32[layers = 3, embed = 4, out = 4]>) -> !titan.tensor<f32[]> attributes {titan.program = "train"} {
    %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!x, !titan.tensor<f32[layers = 3, embed = 4, out = 4]>) -> !x {
    ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %wl: !titan.tensor<f32[embed = 4, out = 4]>):
      %0 = titan.contract %c, %wl : (!x, !titan.tensor<f32[embed = 4, out = 4]>) -> !titan.tensor<f32[batch = 4, seq = 8, out = 4]>
      %1 = titan.rename %0 : !titan.tensor<f32[batch = 4, seq = 8, out = 4]> -> !x
      %2 = titan.add %c, %1 : (!x, !x) -> !x
      titan.yield %2 : !x
    }
    %s = titan.reduce sum %y : !x -> !titan.tensor<f32[]>
    return %s : !titan.tensor<f32[]>
  }
}

// -----

// A causal query attends to half of the keys and itself: 2 products of 2 * 32 * (8 + 1) / 2 operations
// for 8 tokens, and the sum of 32 elements.
// CHECK: titan.flops_per_token = 7.600000e+01 : f64

!q = !titan.tensor<f32[seq = 8, head = 4]>
module attributes {titan.sizes = {positions = 8 : i64}} {
  func.func @train(%q: !q) -> !titan.tensor<f32[]> attributes {titan.program = "train"} {
    %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5, causal} : (!q, !q, !q) -> (!q, !titan.tensor<f32[seq = 8]>)
    %s = titan.reduce sum %y : !q -> !titan.tensor<f32[]>
    return %s : !titan.tensor<f32[]>
  }
}

// -----

// A scatter: an addition per update, 8 * 4 in all.
// CHECK: titan.flops_per_token = 4.000000e+00 : f64

!x = !titan.tensor<f32[seq = 8, embed = 4]>
module attributes {titan.sizes = {positions = 8 : i64}} {
  func.func @train(%dx: !x, %tokens: !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[vocab = 16, embed = 4]> attributes {titan.program = "train"} {
    %dtable = titan.scatter %dx along "vocab" at %tokens : (!x, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[vocab = 16, embed = 4]>
    return %dtable : !titan.tensor<f32[vocab = 16, embed = 4]>
  }
}

// -----

// A grouped contraction: two products of 4 * 8 for each of 8 tokens, for any number of experts.
// CHECK: titan.flops_per_token = 1.280000e+02 : f64

module attributes {titan.sizes = {positions = 8 : i64}} {
  func.func @train(%x: !titan.tensor<f32[seq = 8, embed = 4]>, %w: !titan.tensor<f32[experts = 16, embed = 4, ffn = 8]>, %chosen: !titan.tensor<i64[seq = 8, slot = 2]>)
      -> !titan.tensor<f32[seq = 8, slot = 2, ffn = 8]> attributes {titan.program = "train"} {
    %y = titan.grouped_contract %x, %w along "experts" at %chosen
        : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 16, embed = 4, ffn = 8]>, !titan.tensor<i64[seq = 8, slot = 2]>)
        -> !titan.tensor<f32[seq = 8, slot = 2, ffn = 8]>
    return %y : !titan.tensor<f32[seq = 8, slot = 2, ffn = 8]>
  }
}
