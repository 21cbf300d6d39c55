// RUN: split-file %s %t && titan-interpret %t/whole.mlir --compare %t/parts.mlir | FileCheck %s

// A mask with all terms, capped scores, values with their own head dimension, and a cotangent of
// the log-sum-exp: attention and its gradient equal their decomposition.
// CHECK: equal: 5 results compared

//--- whole.mlir
!q = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, group = 2, head = 4]>
!k = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, head = 4]>
!v = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, wide = 3]>
!y = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, group = 2, wide = 3]>
!lse = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, group = 2]>
!ids = !titan.tensor<i64[seq = 9]>
func.func @f(%q: !q {titan.input = "q"}, %k: !k {titan.input = "k"}, %v: !v {titan.input = "v"}, %dy: !y {titan.input = "dy"}, %dl: !lse {titan.input = "dl"},
             %ids: !ids {titan.value = array<f64: 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0>}) -> (!y, !lse, !q, !k, !v) {
  %y, %lse = titan.attention %q, %k, %v documents %ids along "seq" head "head" {scale = 0.5, causal, window = 4 : i64, soft_cap = 0.8} : (!q, !k, !v, !ids) -> (!y, !lse)
  %dq, %dk, %dv = titan.attention_grad %dy, %q, %k, %v, %y, %lse lse_cotangent %dl documents %ids along "seq" head "head"
      {scale = 0.5, causal, window = 4 : i64, soft_cap = 0.8} : (!y, !q, !k, !v, !y, !lse, !lse, !ids) -> (!q, !k, !v)
  return %y, %lse, %dq, %dk, %dv : !y, !lse, !q, !k, !v
}

//--- parts.mlir
!q = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, group = 2, head = 4]>
!k = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, head = 4]>
!v = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, wide = 3]>
!y = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, group = 2, wide = 3]>
!lse = !titan.tensor<f64[batch = 2, seq = 9, kv = 2, group = 2]>
!ids = !titan.tensor<i64[seq = 9]>
!keys = !titan.tensor<f64[batch = 2, keys = 9, kv = 2, head = 4]>
!values = !titan.tensor<f64[batch = 2, keys = 9, kv = 2, wide = 3]>
!s = !titan.tensor<f64[batch = 2, kv = 2, group = 2, seq = 9, keys = 9]>
!c = !titan.tensor<f64[]>
!iseq = !titan.tensor<i64[seq = 9]>
!ikeys = !titan.tensor<i64[keys = 9]>
!pairs = !titan.tensor<i64[seq = 9, keys = 9]>
!mask = !titan.tensor<i1[seq = 9, keys = 9]>
func.func @f(%q: !q {titan.input = "q"}, %k: !k {titan.input = "k"}, %v: !v {titan.input = "v"}, %dy: !y {titan.input = "dy"}, %dl: !lse {titan.input = "dl"},
             %ids: !ids {titan.value = array<f64: 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0>}) -> (!y, !lse, !q, !k, !v) {
  %k1 = titan.rename %k : !k -> !keys
  %v1 = titan.rename %v : !v -> !values
  %ids1 = titan.rename %ids : !ids -> !ikeys
  %hidden = titan.constant 0xFFF0000000000000 : !c
  %ratio = titan.constant 0.625 : !c
  %cap = titan.constant 0.8 : !c
  %raw = titan.contract %q, %k1 : (!q, !keys) -> !s
  %scaled = titan.mul %raw, %ratio : (!s, !c) -> !s
  %t = titan.tanh %scaled : !s -> !s
  %capped = titan.mul %t, %cap : (!s, !c) -> !s
  %i = titan.iota : !iseq
  %j = titan.iota : !ikeys
  %apart = titan.sub %i, %j : (!iseq, !ikeys) -> !pairs
  %zero = titan.constant 0 : !titan.tensor<i64[]>
  %four = titan.constant 4 : !titan.tensor<i64[]>
  %causal = titan.compare ge, %apart, %zero : (!pairs, !titan.tensor<i64[]>) -> !mask
  %near = titan.compare lt, %apart, %four : (!pairs, !titan.tensor<i64[]>) -> !mask
  %same = titan.compare eq, %ids, %ids1 : (!ids, !ikeys) -> !mask
  %s1 = titan.select %causal, %capped, %hidden : (!mask, !s, !c) -> !s
  %s2 = titan.select %near, %s1, %hidden : (!mask, !s, !c) -> !s
  %scores = titan.select %same, %s2, %hidden : (!mask, !s, !c) -> !s
  %e = titan.exp %scores : !s -> !s
  %sum = titan.reduce sum %e : !s -> !lse
  %lse = titan.log %sum : !lse -> !lse
  %p = titan.div %e, %sum : (!s, !lse) -> !s
  %y = titan.contract %p, %v1 : (!s, !values) -> !y
  %dv1 = titan.contract %p, %dy : (!s, !y) -> !values
  %dp = titan.contract %dy, %v1 : (!y, !values) -> !s
  %pdp = titan.mul %p, %dp : (!s, !s) -> !s
  %mean = titan.reduce sum %pdp : !s -> !lse
  %delta = titan.sub %mean, %dl : (!lse, !lse) -> !lse
  %centred = titan.sub %dp, %delta : (!s, !lse) -> !s
  %ds = titan.mul %p, %centred : (!s, !s) -> !s
  %one = titan.constant 1.0 : !c
  %half = titan.constant 0.5 : !c
  %tt = titan.mul %t, %t : (!s, !s) -> !s
  %slope = titan.sub %one, %tt : (!c, !s) -> !s
  %dcapped = titan.mul %ds, %slope : (!s, !s) -> !s
  %draw = titan.mul %dcapped, %half : (!s, !c) -> !s
  %dq = titan.contract %draw, %k1 : (!s, !keys) -> !q
  %dk1 = titan.contract %draw, %q : (!s, !q) -> !keys
  %dk = titan.rename %dk1 : !keys -> !k
  %dv = titan.rename %dv1 : !values -> !v
  return %y, %lse, %dq, %dk, %dv : !y, !lse, !q, !k, !v
}
