// RUN: titan-opt %s --titan-chunk-loss --split-input-file --verify-diagnostics

!s = !titan.tensor<f32[]>
!y = !titan.tensor<f32[seq = 8, vocab = 64]>

// An operation needs the largest value as a whole.
// expected-error @below {{cannot compute the loss in 2 chunks}}
func.func @train(%x: !titan.tensor<f32[seq = 8]> {titan.input = "x"}, %w: !titan.tensor<f32[vocab = 64]> {titan.param = "w"}) -> !y
    attributes {titan.program = "train", titan.loss_chunks = 2 : i64} {
  // expected-note @below {{this value is as large and has other users, so chunks would save no memory: `seq`}}
  %y = titan.mul %x, %w : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[vocab = 64]>) -> !y
  return %y : !y
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[seq = 8]>
!v = !titan.tensor<f32[vocab = 64]>
!y = !titan.tensor<f32[seq = 8, vocab = 64]>

// A maximum over the sequence is not a sum.
// expected-error @below {{cannot compute the loss in 2 chunks}}
func.func @train(%x: !x {titan.input = "x"}, %w: !v {titan.param = "w"}) -> !v
    attributes {titan.program = "train", titan.loss_chunks = 2 : i64} {
  %y = titan.mul %x, %w : (!x, !v) -> !y
  // expected-note @below {{this operation cannot be computed in chunks along `seq`}}
  %max = titan.reduce max %y : !y -> !v
  return %max : !v
}

// -----

!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[seq = 8]>
!v = !titan.tensor<f32[vocab = 64]>
!y = !titan.tensor<f32[seq = 8, vocab = 64]>

// The gradient needs a sum over the complete sequence.
// expected-error @below {{cannot compute the loss in 4 chunks}}
func.func @train(%x: !x {titan.input = "x"}, %w: !v {titan.param = "w"}) -> !v
    attributes {titan.program = "train", titan.loss_chunks = 4 : i64} {
  %y = titan.mul %x, %w : (!x, !v) -> !y
  %sum = titan.reduce sum %y : !y -> !s
  // expected-note @below {{this operation cannot be computed in chunks along `seq`}}
  %d = titan.mul %y, %sum : (!y, !s) -> !y
  %dw = titan.reduce sum %d : !y -> !v
  return %dw : !v
}

// -----

!x = !titan.tensor<f32[seq = 8]>
!v = !titan.tensor<f32[vocab = 64]>
!y = !titan.tensor<f32[seq = 8, vocab = 64]>
dist.mesh @mesh [#dist.axis<tp = 2>]
dist.axis_rules "tp" shards ["vocab"] fallback [] stores []

// Chunks have equal sizes, and slice a dimension that no axis shards.
// expected-error @below {{cannot compute the loss in 3 chunks}}
// expected-note @below {{the number does not divide the dimensions of the largest value that allow chunks: seq = 8}}
func.func @train(%x: !x {titan.input = "x"}, %w: !v {titan.param = "w"}) -> !v
    attributes {titan.program = "train", titan.loss_chunks = 3 : i64} {
  %y = titan.mul %x, %w : (!x, !v) -> !y
  %dw = titan.reduce sum %y : !y -> !v
  return %dw : !v
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 2]>
!l = !titan.tensor<f32[seq = 8]>
!w = !titan.tensor<f32[head = 2]>

// Queries would be sliced along a dimension that keys have whole, under the same name.
// expected-error @below {{cannot compute the loss in 2 chunks}}
func.func @train(%q: !q {titan.input = "q"}, %k: !q {titan.input = "k"}, %w: !w {titan.param = "w"}) -> !w
    attributes {titan.program = "train", titan.loss_chunks = 2 : i64} {
  // expected-note @below {{this operation cannot be computed in chunks along `seq`}}
  %a, %l = titan.attention %q, %k, %k along "seq" head "head" {scale = 1.0} : (!q, !q, !q) -> (!q, !l)
  %y = titan.mul %a, %w : (!q, !w) -> !q
  %dw = titan.reduce sum %y : !q -> !w
  return %dw : !w
}
