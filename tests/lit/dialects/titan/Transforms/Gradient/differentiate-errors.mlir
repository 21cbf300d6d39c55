// RUN: titan-opt %s --titan-differentiate --split-input-file --verify-diagnostics

// A program without a loss cannot be differentiated.
// expected-error @below {{'func.func' op has no result with titan.output = "loss" to differentiate}}
func.func @train(%x: !titan.tensor<f32[]> {titan.param = "x"}) -> (!titan.tensor<f32[]> {titan.output = "lost"})
    attributes {titan.program = "train"} {
  return %x : !titan.tensor<f32[]>
}

// -----

// A loss is a scalar.
// expected-error @below {{has a loss of type '!titan.tensor<f32[seq = 8]>'; expected a floating-point tensor without dimensions}}
func.func @train(%x: !titan.tensor<f32[seq = 8]> {titan.param = "x"}) -> (!titan.tensor<f32[seq = 8]> {titan.output = "loss"})
    attributes {titan.program = "train"} {
  // expected-note @below {{the loss}}
  %y = titan.exp %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>
  return %y : !titan.tensor<f32[seq = 8]>
}

// -----

!q = !titan.tensor<f32[seq = 3, head = 4]>
!l = !titan.tensor<f32[seq = 3]>
!s = !titan.tensor<f32[]>

// A program that already has gradients is not differentiated again.
func.func @train(%q: !q {titan.param = "q"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !l)
  // expected-error @below {{'titan.attention_grad' op has no gradient, but a trained parameter reaches the loss through it}}
  %dq, %dk, %dv = titan.attention_grad %y, %q, %q, %q, %y, %lse along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !q, !q, !l) -> (!q, !q, !q)
  %loss = titan.reduce sum %dq : !q -> !s
  return %loss : !s
}
