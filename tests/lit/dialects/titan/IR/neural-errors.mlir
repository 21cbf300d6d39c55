// RUN: titan-opt %s -split-input-file -verify-diagnostics

// The rotated dimension is a dimension of the operand.
func.func @f(%q: !titan.tensor<f32[seq = 8, head = 4]>) {
  // expected-error @+1 {{(C1) expected equal types with dimensions "keys" and "head"}}
  %0 = titan.rotary %q along "keys" dim "head" {theta = 1.0e4} : !titan.tensor<f32[seq = 8, head = 4]> -> !titan.tensor<f32[seq = 8, head = 4]>
  return
}

// -----

// The rotated dimension has an even size.
func.func @f(%q: !titan.tensor<f32[seq = 8, head = 3]>) {
  // expected-error @+1 {{(C2) dimension "head" has the odd size 3}}
  %0 = titan.rotary %q along "seq" dim "head" {theta = 1.0e4} : !titan.tensor<f32[seq = 8, head = 3]> -> !titan.tensor<f32[seq = 8, head = 3]>
  return
}

// -----

// Every pair has one frequency.
func.func @f(%q: !titan.tensor<f32[seq = 8, head = 4]>) {
  // expected-error @+1 {{(C3) expected either theta or 2 frequencies, got 3}}
  %0 = titan.rotary %q along "seq" dim "head" {frequencies = array<f64: 1.0, 0.5, 0.25>} : !titan.tensor<f32[seq = 8, head = 4]> -> !titan.tensor<f32[seq = 8, head = 4]>
  return
}

// -----

// A rotary embedding needs `theta` or `frequencies`.
func.func @f(%q: !titan.tensor<f32[seq = 8, head = 4]>) {
  // expected-error @+1 {{(C3) expected either theta or 2 frequencies, got 0}}
  %0 = titan.rotary %q along "seq" dim "head" : !titan.tensor<f32[seq = 8, head = 4]> -> !titan.tensor<f32[seq = 8, head = 4]>
  return
}

// -----

// A rotary embedding cannot have both `theta` and `frequencies`.
func.func @f(%q: !titan.tensor<f32[seq = 8, head = 4]>) {
  // expected-error @+1 {{(C3) expected either theta or 2 frequencies, got both}}
  %0 = titan.rotary %q along "seq" dim "head" {theta = 1.0e4, frequencies = array<f64: 1.0, 0.5>} : !titan.tensor<f32[seq = 8, head = 4]> -> !titan.tensor<f32[seq = 8, head = 4]>
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
!v = !titan.tensor<f32[seq = 8, one = 2, two = 3]>
// Values have at most one other dimension, in place of the head.
func.func @f(%q: !q, %v: !v) {
  // expected-error @+1 {{(C3) expected v to have the dimensions of '!titan.tensor<f32[seq = 8, head = 4]>', perhaps with one of its own in place of "head", got '!titan.tensor<f32[seq = 8, one = 2, two = 3]>'}}
  %y, %lse = titan.attention %q, %q, %v along "seq" head "head" {scale = 0.5} : (!q, !q, !v) -> (!q, !titan.tensor<f32[seq = 8]>)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
// The softmax is over the positions.
func.func @f(%q: !q, %v: !titan.tensor<f32[other = 8, head = 4]>) {
  // expected-error @+1 {{(C1) expected dimensions "seq" and "head" in '!titan.tensor<f32[other = 8, head = 4]>'}}
  %y, %lse = titan.attention %q, %q, %v along "seq" head "head" {scale = 0.5} : (!q, !q, !titan.tensor<f32[other = 8, head = 4]>) -> (!q, !titan.tensor<f32[seq = 8]>)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
!l = !titan.tensor<f32[seq = 8]>
// Documents are numbered along the positions.
func.func @f(%q: !q, %ids: !titan.tensor<i64[batch = 2, seq = 8]>) {
  // expected-error @+1 {{(C5) expected documents of i64 along "seq" with dimensions of k, got '!titan.tensor<i64[batch = 2, seq = 8]>'}}
  %y, %lse = titan.attention %q, %q, %q documents %ids along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !titan.tensor<i64[batch = 2, seq = 8]>) -> (!q, !l)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
!l = !titan.tensor<f32[seq = 8]>
// A window contains at least the position of the query.
func.func @f(%q: !q) {
  // expected-error @+1 {{(C6) the window 0 is less than 1}}
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5, window = 0 : i64} : (!q, !q, !q) -> (!q, !l)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
!l = !titan.tensor<f32[seq = 8]>
// A cap of the scores is positive.
func.func @f(%q: !q) {
  // expected-error @+1 {{(C7) the soft cap 0.000000e+00 : f64 is not positive}}
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5, soft_cap = 0.0} : (!q, !q, !q) -> (!q, !l)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
!k = !titan.tensor<f32[seq = 8, heads = 2, head = 4]>
// Keys have no dimension that queries lack.
func.func @f(%q: !q, %k: !k) {
  // expected-error @+1 {{(C2) q lacks dimension}}
  %y, %lse = titan.attention %q, %k, %k along "seq" head "head" {scale = 0.5} : (!q, !k, !k) -> (!q, !titan.tensor<f32[seq = 8]>)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
// The log-sum-exp is one number per query.
func.func @f(%q: !q) {
  // expected-error @+1 {{(C4) expected a result like q with "head" in place of "head", and an lse like q without "head"}}
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !q)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
// A cotangent has the dimensions of its operand.
func.func @f(%q: !q, %lse: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C2) expected results like q, k and v}}
  %0:3 = titan.attention_grad %q, %q, %q, %q, %q, %lse along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !q, !q, !titan.tensor<f32[seq = 8]>) -> (!q, !q, !titan.tensor<f32[seq = 8]>)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
// The incoming cotangent has the dimensions of the result.
func.func @f(%q: !q, %lse: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C3) expected a cotangent and a result like attention's, got}}
  %0:3 = titan.attention_grad %lse, %q, %q, %q, %q, %lse along "seq" head "head" {scale = 0.5} : (!titan.tensor<f32[seq = 8]>, !q, !q, !q, !q, !titan.tensor<f32[seq = 8]>) -> (!q, !q, !q)
  return
}

// -----

!q = !titan.tensor<bf16[seq = 8, head = 4]>
// The log-sum-exp of bf16 scores is f32.
func.func @f(%q: !q) {
  // expected-error @+1 {{(C8) expected q, k, v and the result of one floating-point type and an lse of that type, f32 at least, got 'bf16', 'bf16', 'bf16', 'bf16' and 'bf16'}}
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !titan.tensor<bf16[seq = 8]>)
  return
}

// -----

!x = !titan.tensor<f32[seq = 4, head = 2]>

func.func @starts_at_no_number(%x: !x, %start: !titan.tensor<f32[]>) {
  // expected-error @below {{(C4) the start must be an i64, one or one per index of other dimensions}}
  %0 = titan.rotary %x along "seq" dim "head" from %start : !titan.tensor<f32[]> {theta = 100.0} : !x -> !x
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4], <[{cp}, {}]>>
!lse = !titan.tensor<f32[seq = 8], <[{cp}]>>
func.func @no_step(%q: !q, %step: !titan.tensor<f32[]>) {
  // expected-error @+1 {{(C9) the step of a ring must be an i64 of rank 0, got}}
  %y, %lse = titan.attention %q, %q, %q ring %step over ["cp"] along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !titan.tensor<f32[]>) -> (!q, !lse)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4], <[{cp}, {}]>>
!k = !titan.tensor<f32[seq = 8, head = 4], <[{}, {}]>>
!lse = !titan.tensor<f32[seq = 8], <[{cp}]>>
// In a step of a ring, the keys are a shard.
func.func @all_keys(%q: !q, %k: !k, %lse: !lse, %step: !titan.tensor<i64[]>) {
  // expected-error @+1 {{(C9) expected positions of k and v over ["cp"], and those of q too, got [], [] and ["cp"]}}
  %dq, %dk, %dv = titan.attention_grad %q, %q, %k, %k, %q, %lse ring %step over ["cp"] along "seq" head "head" {scale = 0.5} : (!q, !q, !k, !k, !q, !lse, !titan.tensor<i64[]>) -> (!q, !k, !k)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
!lse = !titan.tensor<f32[seq = 8]>
func.func @no_position(%q: !q, %start: !titan.tensor<i64[seq = 8]>) {
  // expected-error @+1 {{(C10) the first position must be an i64, one or one per index of other dimensions of k, got}}
  %y, %lse = titan.attention %q, %q, %q from %start along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !titan.tensor<i64[seq = 8]>) -> (!q, !lse)
  return
}

// -----

!q = !titan.tensor<f32[seq = 2, head = 4]>
!k = !titan.tensor<f32[seq = 8, head = 4]>
!lse = !titan.tensor<f32[seq = 2]>
// Without a first position, the positions of queries and keys have one size.
func.func @no_chunk(%q: !q, %k: !k) {
  // expected-error @+1 {{(C2) q lacks dimension}}
  %y, %lse = titan.attention %q, %k, %k along "seq" head "head" {scale = 0.5} : (!q, !k, !k) -> (!q, !lse)
  return
}
