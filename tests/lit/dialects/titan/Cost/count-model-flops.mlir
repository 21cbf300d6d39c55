// RUN: titan-opt %s --titan-count-model-flops -split-input-file | FileCheck %s

// 6 FLOPs per token for each parameter of a product: w has 32. The lookup in the table counts none. Attention adds 6 times
// keys * (query + result) elements per token: 3 * 2 * 8 * (128 + 128) / 32.
// CHECK: module attributes {
// CHECK-SAME: titan.model_flops_per_token = 5.760000e+02 : f64
module attributes {titan.sizes = {samples = 4 : i64, positions = 8 : i64, vocab = 16 : i64}} {
  func.func @train(%tokens: !titan.tensor<i64[batch = 4, seq = 8]> {titan.input = "tokens"},
                   %table: !titan.tensor<f32[vocab = 16, embed = 4]> {titan.param = "table"},
                   %w: !titan.tensor<f32[embed = 4, ffn = 8]> {titan.param = "w"})
      -> (!titan.tensor<f32[]> {titan.output = "loss"}) attributes {titan.program = "train"} {
    %x = titan.gather %table along "vocab" at %tokens
        : (!titan.tensor<f32[vocab = 16, embed = 4]>, !titan.tensor<i64[batch = 4, seq = 8]>)
        -> !titan.tensor<f32[batch = 4, seq = 8, embed = 4]>
    %a, %lse = titan.attention %x, %x, %x along "seq" head "embed" {causal, scale = 0.5}
        : (!titan.tensor<f32[batch = 4, seq = 8, embed = 4]>, !titan.tensor<f32[batch = 4, seq = 8, embed = 4]>,
           !titan.tensor<f32[batch = 4, seq = 8, embed = 4]>)
        -> (!titan.tensor<f32[batch = 4, seq = 8, embed = 4]>, !titan.tensor<f32[batch = 4, seq = 8]>)
    %y = titan.contract %a, %w
        : (!titan.tensor<f32[batch = 4, seq = 8, embed = 4]>, !titan.tensor<f32[embed = 4, ffn = 8]>)
        -> !titan.tensor<f32[batch = 4, seq = 8, ffn = 8]>
    %loss = titan.reduce sum %y : !titan.tensor<f32[batch = 4, seq = 8, ffn = 8]> -> !titan.tensor<f32[]>
    return %loss : !titan.tensor<f32[]>
  }
}

// -----

// Of four experts with 32 parameters each, a token multiplies two: 6 * 2 * 32.
// CHECK: titan.model_flops_per_token = 3.840000e+02 : f64
module attributes {titan.sizes = {positions = 8 : i64}} {
  func.func @train(%x: !titan.tensor<f32[seq = 8, embed = 4]> {titan.input = "x"},
                   %chosen: !titan.tensor<i64[seq = 8, slot = 2]> {titan.input = "chosen"},
                   %w: !titan.tensor<f32[layers = 1, experts = 4, embed = 4, ffn = 8]> {titan.param = "layers.w", titan.stacked})
      -> (!titan.tensor<f32[]> {titan.output = "loss"}) attributes {titan.program = "train"} {
    %zero = titan.constant 0.0 : !titan.tensor<f32[]>
    %loss = titan.repeat <layers = 1> iter_args(%zero) scanned(%w) : (!titan.tensor<f32[]>, !titan.tensor<f32[layers = 1, experts = 4, embed = 4, ffn = 8]>) -> !titan.tensor<f32[]> {
    ^bb0(%l: !titan.tensor<i64[]>, %total: !titan.tensor<f32[]>, %wl: !titan.tensor<f32[experts = 4, embed = 4, ffn = 8]>):
      %y = titan.grouped_contract %x, %wl along "experts" at %chosen
          : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 4, embed = 4, ffn = 8]>, !titan.tensor<i64[seq = 8, slot = 2]>)
          -> !titan.tensor<f32[seq = 8, slot = 2, ffn = 8]>
      %s = titan.reduce sum %y : !titan.tensor<f32[seq = 8, slot = 2, ffn = 8]> -> !titan.tensor<f32[]>
      %next = titan.add %total, %s : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
      titan.yield %next : !titan.tensor<f32[]>
    }
    return %loss : !titan.tensor<f32[]>
  }
}

// -----

// The same in slots: each of four experts has 4 slots for 8 tokens, so that a token multiplies two.
// CHECK: titan.model_flops_per_token = 3.840000e+02 : f64
module attributes {titan.sizes = {positions = 8 : i64}} {
  func.func @train(%x: !titan.tensor<f32[experts = 4, slots = 4, embed = 4]> {titan.input = "x"},
                   %w: !titan.tensor<f32[experts = 4, embed = 4, ffn = 8]> {titan.param = "w"})
      -> (!titan.tensor<f32[]> {titan.output = "loss"}) attributes {titan.program = "train"} {
    %y = titan.contract %x, %w
        : (!titan.tensor<f32[experts = 4, slots = 4, embed = 4]>, !titan.tensor<f32[experts = 4, embed = 4, ffn = 8]>)
        -> !titan.tensor<f32[experts = 4, slots = 4, ffn = 8]>
    %loss = titan.reduce sum %y : !titan.tensor<f32[experts = 4, slots = 4, ffn = 8]> -> !titan.tensor<f32[]>
    return %loss : !titan.tensor<f32[]>
  }
}

// -----

// Heads are a batch of matrices, too, but each token multiplies all of them: 6 * 64.
// CHECK: titan.model_flops_per_token = 3.840000e+02 : f64
module attributes {titan.sizes = {positions = 8 : i64}} {
  func.func @train(%x: !titan.tensor<f32[seq = 8, heads = 2, wide = 4]> {titan.input = "x"},
                   %w: !titan.tensor<f32[heads = 2, wide = 4, out = 8]> {titan.param = "w"})
      -> (!titan.tensor<f32[]> {titan.output = "loss"}) attributes {titan.program = "train"} {
    %y = titan.contract %x, %w
        : (!titan.tensor<f32[seq = 8, heads = 2, wide = 4]>, !titan.tensor<f32[heads = 2, wide = 4, out = 8]>)
        -> !titan.tensor<f32[seq = 8, heads = 2, out = 8]>
    %loss = titan.reduce sum %y : !titan.tensor<f32[seq = 8, heads = 2, out = 8]> -> !titan.tensor<f32[]>
    return %loss : !titan.tensor<f32[]>
  }
}
