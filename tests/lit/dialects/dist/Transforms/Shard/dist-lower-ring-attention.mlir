// RUN: titan-opt --dist-lower-ring-attention --dist-verify %s | FileCheck %s

dist.mesh @mesh [#dist.axis<cp = 4>, #dist.axis<tp = 2>]
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention ring
dist.axis_rules "tp" shards ["heads", "group"] fallback [] stores []

!q = !titan.tensor<bf16[seq = 8, heads = 2, group = 3, head = 4], <[{cp}, {tp}, {}, {}]>>
!k = !titan.tensor<bf16[seq = 8, heads = 2, head = 4], <[{cp}, {tp}, {}]>>
!whole = !titan.tensor<bf16[seq = 8, heads = 2, head = 4], <[{}, {tp}, {}]>>
!lse = !titan.tensor<f32[seq = 8, heads = 2, group = 3], <[{cp}, {tp}, {}]>>
!ids = !titan.tensor<i64[seq = 8], <[{}]>>

// Three of four steps are a repeat, in which the next keys arrive. Results are merged in f32.
// CHECK-LABEL: func.func @forward
func.func @forward(%q: !q, %k: !k, %v: !k, %ids: !ids) -> (!q, !lse) {
  // CHECK-DAG: %[[LOW:.*]] = titan.constant -9.9999999999999997E+37 : <f32[], <[]>>
  // CHECK-DAG: %[[O:.*]] = titan.expand %{{.*}} -> <f32[seq = 8, heads = 2, group = 3, head = 4], <[{cp}, {tp}, {}, {}]>>
  // CHECK-DAG: %[[L:.*]] = titan.expand %[[LOW]]
  // CHECK: %[[R:.*]]:4 = titan.repeat <cp.ring = 3> iter_args(%arg1, %arg2, %[[O]], %[[L]])
  // CHECK-NEXT: ^bb0(%[[S:.*]]: !titan.tensor<i64[], <[]>>, %[[K:[^:]*]]: {{.*}}, %[[V:[^:]*]]: {{.*}}, %[[O0:[^:]*]]: {{.*}}, %[[L0:[^:]*]]:
  // CHECK-NEXT: %[[N:.*]]:2 = dist.permute %[[K]], %[[V]] over ["cp"] by 1
  // CHECK-NEXT: %[[Y:.*]]:2 = titan.attention %arg0, %[[K]], %[[V]] documents %arg3 ring %[[S]] over ["cp"] along "seq" head "head" {causal, scale = 5.000000e-01 : f64}
  // CHECK-NEXT: %[[W:.*]] = titan.cast %[[Y]]#0 : {{.*}} -> <f32
  // CHECK-NEXT: %[[TOP:.*]] = titan.maximum %[[L0]], %[[Y]]#1
  // CHECK-NEXT: %[[A:.*]] = titan.sub %[[L0]], %[[TOP]]
  // CHECK-NEXT: %[[EA:.*]] = titan.exp %[[A]]
  // CHECK-NEXT: %[[B:.*]] = titan.sub %[[Y]]#1, %[[TOP]]
  // CHECK-NEXT: %[[EB:.*]] = titan.exp %[[B]]
  // CHECK-NEXT: %[[SUM:.*]] = titan.add %[[EA]], %[[EB]]
  // CHECK-NEXT: %[[LOG:.*]] = titan.log %[[SUM]]
  // CHECK-NEXT: %[[L1:.*]] = titan.add %[[TOP]], %[[LOG]]
  // CHECK-NEXT: %[[OA:.*]] = titan.mul %[[O0]], %[[EA]]
  // CHECK-NEXT: %[[OB:.*]] = titan.mul %[[W]], %[[EB]]
  // CHECK-NEXT: %[[OS:.*]] = titan.add %[[OA]], %[[OB]]
  // CHECK-NEXT: %[[O1:.*]] = titan.div %[[OS]], %[[SUM]]
  // CHECK-NEXT: titan.yield %[[N]]#0, %[[N]]#1, %[[O1]], %[[L1]]
  // CHECK: %[[LAST:.*]] = titan.constant 3 : <i64[], <[]>>
  // CHECK: titan.attention %arg0, %[[R]]#0, %[[R]]#1 documents %arg3 ring %[[LAST]] over ["cp"]
  // CHECK: %[[O2:.*]] = titan.div
  // CHECK: %[[Y2:.*]] = titan.cast %[[O2]] : {{.*}} -> <bf16
  // CHECK: return %[[Y2]], %{{.*}} :
  %y, %lse = titan.attention %q, %k, %v documents %ids along "seq" head "head" {scale = 0.5, causal} : (!q, !k, !k, !ids) -> (!q, !lse)
  return %y, %lse : !q, !lse
}

// The cotangents of keys and values arrive while a step computes, from the second step on; a last permute returns them
// to their owners. So they are sent once per rank: two steps are the repeat, the first and the last one are apart.
// CHECK-LABEL: func.func @backward
func.func @backward(%dy: !q, %q: !q, %k: !k, %v: !k, %y: !q, %lse: !lse) -> (!q, !k, !k) {
  // CHECK: %[[K1:.*]]:2 = dist.permute %arg2, %arg3 over ["cp"] by 1
  // CHECK-NEXT: %[[FIRST:.*]] = titan.constant 0 : <i64
  // CHECK-NEXT: %[[G0:.*]]:3 = titan.attention_grad %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 ring %[[FIRST]] over ["cp"]
  // CHECK-NEXT: %[[GQ0:.*]] = titan.cast %[[G0]]#0
  // CHECK-NEXT: %[[GK0:.*]] = titan.cast %[[G0]]#1
  // CHECK-NEXT: %[[GV0:.*]] = titan.cast %[[G0]]#2
  // CHECK-NEXT: %[[R:.*]]:5 = titan.repeat <cp.ring = 2> iter_args(%[[K1]]#0, %[[K1]]#1, %[[GQ0]], %[[GK0]], %[[GV0]])
  // CHECK-NEXT: ^bb0(%[[I:.*]]: !titan.tensor<i64[], <[]>>, %[[K:[^:]*]]: {{.*}}, %[[V:[^:]*]]: {{.*}}, %[[DQ0:[^:]*]]: {{.*}}, %[[DK0:[^:]*]]: {{.*}}, %[[DV0:[^:]*]]:
  // CHECK-NEXT: %[[N:.*]]:2 = dist.permute %[[K]], %[[V]] over ["cp"] by 1
  // CHECK-NEXT: %[[ONE:.*]] = titan.constant 1 : <i64
  // CHECK-NEXT: %[[S:.*]] = titan.add %[[I]], %[[ONE]]
  // CHECK-NEXT: %[[D:.*]]:2 = dist.permute %[[DK0]], %[[DV0]] over ["cp"] by 1 : !titan.tensor<f32
  // CHECK-NEXT: %[[G:.*]]:3 = titan.attention_grad %arg0, %arg1, %[[K]], %[[V]], %arg4, %arg5 ring %[[S]] over ["cp"]
  // CHECK-NEXT: %[[GQ:.*]] = titan.cast %[[G]]#0
  // CHECK-NEXT: %[[GK:.*]] = titan.cast %[[G]]#1
  // CHECK-NEXT: %[[GV:.*]] = titan.cast %[[G]]#2
  // CHECK-NEXT: %[[DQ:.*]] = titan.add %[[DQ0]], %[[GQ]]
  // CHECK-NEXT: %[[DK:.*]] = titan.add %[[D]]#0, %[[GK]]
  // CHECK-NEXT: %[[DV:.*]] = titan.add %[[D]]#1, %[[GV]]
  // CHECK-NEXT: titan.yield %[[N]]#0, %[[N]]#1, %[[DQ]], %[[DK]], %[[DV]]
  // CHECK: dist.permute %[[R]]#3, %[[R]]#4 over ["cp"] by 1
  // CHECK-NEXT: titan.attention_grad %arg0, %arg1, %[[R]]#0, %[[R]]#1, %arg4, %arg5 ring
  // CHECK: %[[HOME:.*]]:2 = dist.permute
  // CHECK-NEXT: titan.cast
  // CHECK-NEXT: titan.cast %[[HOME]]#0
  // CHECK-NEXT: titan.cast %[[HOME]]#1
  // CHECK-NOT: dist.permute
  %dq, %dk, %dv = titan.attention_grad %dy, %q, %k, %v, %y, %lse along "seq" head "head" {scale = 0.5, causal} : (!q, !q, !k, !k, !q, !lse) -> (!q, !k, !k)
  return %dq, %dk, %dv : !q, !k, !k
}

// Attention with replicated keys stays unchanged.
// CHECK-LABEL: func.func @gathered
func.func @gathered(%q: !whole, %k: !whole) -> !whole {
  // CHECK-NOT: titan.repeat
  // CHECK: titan.attention %arg0, %arg1, %arg1 along
  %y, %lse = titan.attention %q, %k, %k along "seq" head "head" {scale = 0.5} : (!whole, !whole, !whole) -> (!whole, !titan.tensor<f32[seq = 8, heads = 2], <[{}, {tp}]>>)
  return %y : !whole
}

!qg = !titan.tensor<f32[seq = 8, group = 2, head = 4], <[{cp}, {tp}, {}]>>
!kg = !titan.tensor<f32[seq = 8, head = 4], <[{cp}, {}]>>
!partial = !titan.tensor<f32[seq = 8, head = 4], <[{cp}, {}] partial sum {tp}>>
!lseg = !titan.tensor<f32[seq = 8, group = 2], <[{cp}, {tp}]>>

// Another axis shards the queries that share a key. Cotangents of keys are then partial over that axis.
// CHECK-LABEL: func.func @unreduced
func.func @unreduced(%dy: !qg, %q: !qg, %k: !kg, %v: !kg, %y: !qg, %lse: !lseg) -> (!qg, !partial {titan.unreduced}, !partial {titan.unreduced}) {
  // CHECK: titan.repeat <cp.ring = 2>
  // CHECK: dist.permute {{.*}} partial sum {tp}
  %dq, %dk, %dv = titan.attention_grad %dy, %q, %k, %v, %y, %lse along "seq" head "head" {scale = 0.5} : (!qg, !qg, !kg, !kg, !qg, !lseg) -> (!qg, !partial, !partial)
  return %dq, %dk, %dv : !qg, !partial, !partial
}
