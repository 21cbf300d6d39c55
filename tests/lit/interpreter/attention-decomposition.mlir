// RUN: split-file %s %t && titan-interpret %t/whole.mlir --compare %t/parts.mlir | FileCheck %s

// Attention and its gradient equal their decomposition.
// CHECK: equal: 5 results compared

//--- whole.mlir
!q = !titan.tensor<f64[batch = 2, seq = 3, kv = 2, group = 2, head = 4]>
!k = !titan.tensor<f64[batch = 2, seq = 3, kv = 2, head = 4]>
!lse = !titan.tensor<f64[batch = 2, seq = 3, kv = 2, group = 2]>
func.func @f(%q: !q {titan.input = "q"}, %k: !k {titan.input = "k"}, %v: !k {titan.input = "v"}, %dy: !q {titan.input = "dy"}) -> (!q, !lse, !q, !k, !k) {
  %y, %lse = titan.attention %q, %k, %v along "seq" head "head" {scale = 0.5, causal} : (!q, !k, !k) -> (!q, !lse)
  %dq, %dk, %dv = titan.attention_grad %dy, %q, %k, %v, %y, %lse along "seq" head "head" {scale = 0.5, causal}
      : (!q, !q, !k, !k, !q, !lse) -> (!q, !k, !k)
  return %y, %lse, %dq, %dk, %dv : !q, !lse, !q, !k, !k
}

//--- parts.mlir
!q = !titan.tensor<f64[batch = 2, seq = 3, kv = 2, group = 2, head = 4]>
!k = !titan.tensor<f64[batch = 2, seq = 3, kv = 2, head = 4]>
!keys = !titan.tensor<f64[batch = 2, keys = 3, kv = 2, head = 4]>
!lse = !titan.tensor<f64[batch = 2, seq = 3, kv = 2, group = 2]>
!s = !titan.tensor<f64[batch = 2, kv = 2, group = 2, seq = 3, keys = 3]>
func.func @f(%q: !q {titan.input = "q"}, %k: !k {titan.input = "k"}, %v: !k {titan.input = "v"}, %dy: !q {titan.input = "dy"}) -> (!q, !lse, !q, !k, !k) {
  %k1 = titan.rename %k : !k -> !keys
  %v1 = titan.rename %v : !k -> !keys
  %scale = titan.constant 0.5 : !titan.tensor<f64[]>
  %hidden = titan.constant 0xFFF0000000000000 : !titan.tensor<f64[]>
  %raw = titan.contract %q, %k1 : (!q, !keys) -> !s
  %scaled = titan.mul %raw, %scale : (!s, !titan.tensor<f64[]>) -> !s
  %i = titan.iota : !titan.tensor<i64[seq = 3]>
  %j = titan.iota : !titan.tensor<i64[keys = 3]>
  %seen = titan.compare ge, %i, %j : (!titan.tensor<i64[seq = 3]>, !titan.tensor<i64[keys = 3]>) -> !titan.tensor<i1[seq = 3, keys = 3]>
  %scores = titan.select %seen, %scaled, %hidden : (!titan.tensor<i1[seq = 3, keys = 3]>, !s, !titan.tensor<f64[]>) -> !s
  %e = titan.exp %scores : !s -> !s
  %sum = titan.reduce sum %e : !s -> !lse
  %lse = titan.log %sum : !lse -> !lse
  %p = titan.div %e, %sum : (!s, !lse) -> !s
  %y = titan.contract %p, %v1 : (!s, !keys) -> !q
  %dv1 = titan.contract %p, %dy : (!s, !q) -> !keys
  %dp = titan.contract %dy, %v1 : (!q, !keys) -> !s
  %pdp = titan.mul %p, %dp : (!s, !s) -> !s
  %delta = titan.reduce sum %pdp : !s -> !lse
  %centred = titan.sub %dp, %delta : (!s, !lse) -> !s
  %ds = titan.mul %p, %centred : (!s, !s) -> !s
  %draw = titan.mul %ds, %scale : (!s, !titan.tensor<f64[]>) -> !s
  %dq = titan.contract %draw, %k1 : (!s, !keys) -> !q
  %dk1 = titan.contract %draw, %q : (!s, !q) -> !keys
  %dk = titan.rename %dk1 : !keys -> !k
  %dv = titan.rename %dv1 : !keys -> !k
  return %y, %lse, %dq, %dk, %dv : !q, !lse, !q, !k, !k
}
