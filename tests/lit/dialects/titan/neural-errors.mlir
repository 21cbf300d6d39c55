// RUN: titan-opt %s -split-input-file -verify-diagnostics

// Rotation goes along a dimension of its operand.
func.func @f(%q: !titan.tensor<f32[seq = 8, head = 4]>) {
  // expected-error @+1 {{(C1) expected equal types with dimensions "keys" and "head"}}
  %0 = titan.rotary %q along "keys" dim "head" {theta = 1.0e4} : !titan.tensor<f32[seq = 8, head = 4]> -> !titan.tensor<f32[seq = 8, head = 4]>
  return
}

// -----

// Rotation works on pairs.
func.func @f(%q: !titan.tensor<f32[seq = 8, head = 3]>) {
  // expected-error @+1 {{(C2) dimension "head" has the odd size 3}}
  %0 = titan.rotary %q along "seq" dim "head" {theta = 1.0e4} : !titan.tensor<f32[seq = 8, head = 3]> -> !titan.tensor<f32[seq = 8, head = 3]>
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
// Keys and values look alike.
func.func @f(%q: !q, %v: !titan.tensor<f32[head = 4, seq = 8]>) {
  // expected-error @+1 {{(C1) k and v differ}}
  %y, %lse = titan.attention %q, %q, %v along "seq" head "head" {scale = 0.5} : (!q, !q, !titan.tensor<f32[head = 4, seq = 8]>) -> (!q, !titan.tensor<f32[seq = 8]>)
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
// The log-sum-exp is one number a query.
func.func @f(%q: !q) {
  // expected-error @+1 {{(C3) expected a result like q and an lse like q without "head"}}
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !q)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
// Cotangents look like what they belong to.
func.func @f(%q: !q, %lse: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) expected results like q, k and v}}
  %0:3 = titan.attention_grad %q, %q, %q, %q, %q, %lse along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !q, !q, !titan.tensor<f32[seq = 8]>) -> (!q, !q, !titan.tensor<f32[seq = 8]>)
  return
}

// -----

!q = !titan.tensor<f32[seq = 8, head = 4]>
// The incoming cotangent looks like the result.
func.func @f(%q: !q, %lse: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C2) expected a cotangent and a result like q}}
  %0:3 = titan.attention_grad %lse, %q, %q, %q, %q, %lse along "seq" head "head" {scale = 0.5} : (!titan.tensor<f32[seq = 8]>, !q, !q, !q, !q, !titan.tensor<f32[seq = 8]>) -> (!q, !q, !q)
  return
}
