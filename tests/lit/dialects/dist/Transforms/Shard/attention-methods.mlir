// RUN: titan-opt --dist-insert-reshards -split-input-file %s | FileCheck %s

// If the axis rules name no method, keys are gathered.
dist.mesh @mesh [#dist.axis<cp = 2>]
// CHECK: dist.axis_rules "cp" shards ["seq"] fallback [] stores []{{$}}
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention gather
!q = !titan.tensor<f32[seq = 8, heads = 2, head = 4], <[{cp}, {}, {}]>>
// CHECK-LABEL: func.func @gather
func.func @gather(%q: !q, %k: !q, %v: !q) -> !q {
  // CHECK-DAG: %[[K:.*]] = dist.reshard %arg1 : {{.*}} -> {{.*}}<[{}, {}, {}]>>
  // CHECK-DAG: %[[V:.*]] = dist.reshard %arg2 : {{.*}} -> {{.*}}<[{}, {}, {}]>>
  // CHECK: titan.attention %arg0, %[[K]], %[[V]] along
  %y, %lse = titan.attention %q, %k, %v along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !titan.tensor<f32[seq = 8, heads = 2], <[{cp}, {}]>>)
  return %y : !q
}

// -----

// In a ring, keys keep their shards, and so do all cotangents; documents are whole.
dist.mesh @mesh [#dist.axis<cp = 2>]
// CHECK: dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention ring
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention ring
!q = !titan.tensor<f32[seq = 8, heads = 2, head = 4], <[{cp}, {}, {}]>>
!lse = !titan.tensor<f32[seq = 8, heads = 2], <[{cp}, {}]>>
!ids = !titan.tensor<i64[seq = 8], <[{cp}]>>
// CHECK-LABEL: func.func @ring
func.func @ring(%q: !q, %k: !q, %v: !q, %ids: !ids) -> (!q, !q, !q) {
  // CHECK: %[[IDS:.*]] = dist.reshard %arg3 : {{.*}}<[{cp}]>> -> {{.*}}<[{}]>>
  // CHECK-NOT: dist.reshard
  // CHECK: titan.attention %arg0, %arg1, %arg2 documents %[[IDS]] along
  %y, %lse = titan.attention %q, %k, %v documents %ids along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !ids) -> (!q, !lse)
  // CHECK: titan.attention_grad {{.*}} -> (!titan.tensor<f32[seq = 8, heads = 2, head = 4], <[{cp}, {}, {}]>>, !titan.tensor<f32[seq = 8, heads = 2, head = 4], <[{cp}, {}, {}]>>, !titan.tensor<f32[seq = 8, heads = 2, head = 4], <[{cp}, {}, {}]>>)
  %dq, %dk, %dv = titan.attention_grad %y, %q, %k, %v, %y, %lse documents %ids along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !q, !q, !lse, !ids) -> (!q, !q, !q)
  return %dq, %dk, %dv : !q, !q, !q
}

// -----

// By all-to-all, the axis moves from positions to the heads after `tp`, in one collective.
dist.mesh @mesh [#dist.axis<cp = 2>, #dist.axis<tp = 2>]
// CHECK: dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention all_to_all
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention all_to_all
dist.axis_rules "tp" shards ["heads"] fallback [] stores []
!q = !titan.tensor<f32[seq = 8, heads = 4, head = 4], <[{cp}, {tp}, {}]>>
// CHECK-LABEL: func.func @heads
func.func @heads(%q: !q, %k: !q, %v: !q) -> !q {
  // CHECK-COUNT-3: dist.reshard {{.*}}<[{cp}, {tp}, {}]>> -> {{.*}}<[{}, {tp, cp}, {}]>>
  // CHECK: %[[Y:.*]]:2 = titan.attention
  // CHECK: dist.reshard %[[Y]]#0 : {{.*}}<[{}, {tp, cp}, {}]>> -> {{.*}}<[{cp}, {tp}, {}]>>
  %y, %lse = titan.attention %q, %k, %v along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !titan.tensor<f32[seq = 8, heads = 4], <[{cp}, {tp}]>>)
  %z = titan.sharding_constraint %y : !q -> !q
  return %z : !q
}

// -----

// Cached keys without heads that the axis could shard are gathered.
dist.mesh @mesh [#dist.axis<cp = 2>]
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention all_to_all
!q = !titan.tensor<f32[seq = 8, heads = 2, narrow = 4], <[{cp}, {}, {}]>>
!k = !titan.tensor<f32[seq = 8, narrow = 4], <[{cp}, {}]>>
// CHECK-LABEL: func.func @cached
func.func @cached(%q: !q, %k: !k, %start: !titan.tensor<i64[], <[]>>) -> !q {
  // CHECK: %[[K:.*]] = dist.reshard %arg1 : {{.*}}<[{cp}, {}]>> -> {{.*}}<[{}, {}]>>
  // CHECK: titan.attention %arg0, %[[K]], %{{.*}} from %arg2
  // CHECK-SAME: heads = 2, narrow = 4], <[{cp}, {}, {}]>>
  %y, %lse = titan.attention %q, %k, %k from %start along "seq" head "narrow" {scale = 0.5} : (!q, !k, !k, !titan.tensor<i64[], <[]>>) -> (!q, !titan.tensor<f32[seq = 8, heads = 2], <[{cp}, {}]>>)
  return %y : !q
}
