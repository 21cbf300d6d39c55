// RUN: titan-opt %s --split-input-file --dist-choose-attention | FileCheck %s

// A long sequence in head-tail order: a ring overlaps messages with evenly divided work.
!q = !titan.tensor<bf16[batch = 1, seq = 1048576, kv_heads = 8, group = 4, head = 128]>
!k = !titan.tensor<bf16[batch = 1, seq = 1048576, kv_heads = 8, head = 128]>
!l = !titan.tensor<f32[batch = 1, seq = 1048576, kv_heads = 8, group = 4]>
dist.mesh @mesh [#dist.axis<cp = 8>]
// CHECK: dist.axis_rules "cp" shards ["seq"] fallback [] stores [] headtail attention ring {dist.attention_times = "gather: {{[0-9.]+}} ms; ring: {{[0-9.]+}} ms; all_to_all: positions are in head-tail order"}
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] headtail attention auto
func.func @train(%q: !q, %k: !k) attributes {titan.program = "train"} {
  %a, %lse = titan.attention %q, %k, %k along "seq" head "head" {causal, scale = 1.0 : f64} : (!q, !k, !k) -> (!q, !l)
  return
}

// -----

// A long sequence in block order: only all-to-alls give all ranks equal work.
!q = !titan.tensor<bf16[batch = 1, seq = 131072, kv_heads = 8, group = 4, head = 128]>
!k = !titan.tensor<bf16[batch = 1, seq = 131072, kv_heads = 8, head = 128]>
!l = !titan.tensor<f32[batch = 1, seq = 131072, kv_heads = 8, group = 4]>
dist.mesh @mesh [#dist.axis<cp = 8>]
// CHECK: dist.axis_rules "cp" {{.*}} attention all_to_all {dist.attention_times = "gather: {{[0-9.]+}} ms; ring: {{[0-9.]+}} ms; all_to_all: {{[0-9.]+}} ms"}
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention auto
func.func @train(%q: !q, %k: !k) attributes {titan.program = "train"} {
  %a, %lse = titan.attention %q, %k, %k along "seq" head "head" {causal, scale = 1.0 : f64} : (!q, !k, !k) -> (!q, !l)
  return
}

// -----

// Another axis leaves two heads per rank, which the degree 8 does not divide, so all-to-alls are impossible.
!q = !titan.tensor<bf16[batch = 1, seq = 131072, kv_heads = 8, group = 4, head = 128]>
!k = !titan.tensor<bf16[batch = 1, seq = 131072, kv_heads = 8, head = 128]>
!l = !titan.tensor<f32[batch = 1, seq = 131072, kv_heads = 8, group = 4]>
dist.mesh @mesh [#dist.axis<cp = 8>, #dist.axis<tp = 4>]
// CHECK: dist.axis_rules "cp" {{.*}} attention ring {dist.attention_times = "{{.*}}; all_to_all: 8 does not divide the 2 heads of a rank"}
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention auto
dist.axis_rules "tp" shards ["kv_heads"] fallback [] stores []
func.func @train(%q: !q, %k: !k) attributes {titan.program = "train"} {
  %a, %lse = titan.attention %q, %k, %k along "seq" head "head" {causal, scale = 1.0 : f64} : (!q, !k, !k) -> (!q, !l)
  return
}

// -----

// A short sequence: gather has the fewest messages.
!q = !titan.tensor<bf16[batch = 1, seq = 512, kv_heads = 8, group = 4, head = 128]>
!k = !titan.tensor<bf16[batch = 1, seq = 512, kv_heads = 8, head = 128]>
!l = !titan.tensor<f32[batch = 1, seq = 512, kv_heads = 8, group = 4]>
dist.mesh @mesh [#dist.axis<cp = 8>]
// CHECK: dist.axis_rules "cp" shards ["seq"] fallback [] stores [] {dist.attention_times =
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention auto
func.func @train(%q: !q, %k: !k) attributes {titan.program = "train"} {
  %a, %lse = titan.attention %q, %k, %k along "seq" head "head" {causal, scale = 1.0 : f64} : (!q, !k, !k) -> (!q, !l)
  return
}

// -----

// Nothing to choose: an axis that does not shard the positions, a given method, and an axis of degree 1.
!q = !titan.tensor<bf16[batch = 8, seq = 1024, heads = 8, head = 128]>
!l = !titan.tensor<f32[batch = 8, seq = 1024, heads = 8]>
dist.mesh @mesh [#dist.axis<dp = 2>, #dist.axis<cp = 4>, #dist.axis<one = 1>]
// CHECK: dist.axis_rules "dp" shards ["batch"] fallback ["seq"] stores []{{$}}
dist.axis_rules "dp" shards ["batch"] fallback ["seq"] stores [] attention auto
// CHECK: dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention ring{{$}}
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention ring
// CHECK: dist.axis_rules "one" shards ["seq"] fallback [] stores []{{$}}
dist.axis_rules "one" shards ["seq"] fallback [] stores [] attention auto
func.func @train(%q: !q) attributes {titan.program = "train"} {
  %a, %lse = titan.attention %q, %q, %q along "seq" head "head" {causal, scale = 1.0 : f64} : (!q, !q, !q) -> (!q, !l)
  return
}
