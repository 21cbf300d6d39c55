// RUN: titan-opt --titan-plan-memory --mlir-print-debuginfo %s -o %t.mlir
// RUN: titan-translate --titan-to-cpp %t.mlir | FileCheck %s
// RUN: titan-translate --titan-to-cuda %t.mlir | FileCheck %s --check-prefix=CUDA

!q = !titan.tensor<f32[batch = 2, seq = 8, kv = 2, group = 3, head = 4]>
!k = !titan.tensor<f32[batch = 2, seq = 8, kv = 2, head = 4]>
!lse = !titan.tensor<f32[batch = 2, seq = 8, kv = 2, group = 3]>
!qt = !titan.tensor<f32[head = 4, group = 3, batch = 2, seq = 8, kv = 2]>
!vt = !titan.tensor<f32[kv = 2, seq = 8, wide = 5, batch = 2]>
!yt = !titan.tensor<f32[wide = 5, group = 3, batch = 2, seq = 8, kv = 2]>
!lt = !titan.tensor<f32[group = 3, batch = 2, seq = 8, kv = 2]>
!ids = !titan.tensor<i64[seq = 8, batch = 2]>

// CHECK-LABEL: void run(Context &ctx) {
func.func @train(%q: !q {titan.input = "q"} loc("q"), %k: !k {titan.input = "k"} loc("key"),
                 %qt: !qt {titan.input = "qt"} loc("qt"), %vt: !vt {titan.input = "vt"} loc("vt"),
                 %ids: !ids {titan.input = "ids"} loc("ids"))
    -> (!q {titan.output = "y"}, !yt {titan.output = "yt"}) attributes {titan.program = "train"} {
  // The usual order of dimensions needs no strides. Scratch is planned; kernels on devices have none.
  // CHECK: attention(ctx, q_, key_, key_, y_, {{.*}},
  // CHECK-NEXT: {.outer = batch_, .queries = seq_, .keys = seq_, .kvHeads = kv_, .group = group_,
  // CHECK-NEXT: .head = head_, .valueHead = head_, .scale = 0.5, .causal = true, .scratch = transient<double>(ctx, [[SCRATCH:[0-9]+]])});
  // CUDA: .scale = 0.5, .causal = true});
  %y, %lse = titan.attention %q, %k, %k along "seq" head "head" {scale = 0.5, causal} : (!q, !k, !k) -> (!q, !lse) loc("y")
  // Any other order is described by strides, and the terms of the mask are described, too.
  // CHECK: attention(ctx, qt_, key_, vt_, yt_, {{.*}},
  // CHECK-NEXT: {.outer = batch_, .queries = seq_, .keys = seq_, .kvHeads = kv_, .group = group_,
  // CHECK-NEXT: .head = head_, .valueHead = wide_, .scale = 0.5, .window = 3, .softCap = 20.0, .documents = ids_, .scratch = transient<double>(ctx, {{[0-9]+}}), .q = {seq_ * kv_, kv_, 1, batch_ * seq_ * kv_, group_ * batch_ * seq_ * kv_}, .v = {1, wide_ * batch_, seq_ * wide_ * batch_, 0, batch_},
  // CHECK-SAME: .ofDocuments = {1, batch_, 0, 0, 0}
  %yt, %lt = titan.attention %qt, %k, %vt documents %ids along "seq" head "head" {scale = 0.5, window = 3 : i64, soft_cap = 20.0}
      : (!qt, !k, !vt, !ids) -> (!yt, !lt) loc("yt")
  return %y, %yt : !q, !yt
}
// CHECK: {"attention_scratch", tm::threads() * {{[0-9]+}} * getByteSize(DType::F64),
