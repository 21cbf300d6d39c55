// RUN: titan-opt --dist-insert-reshards -verify-diagnostics -split-input-file %s

// Four ranks cannot divide six heads evenly. The gradient fails for the same reason, without a second error.
dist.mesh @mesh [#dist.axis<cp = 4>]
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention all_to_all
!q = !titan.tensor<f32[seq = 8, heads = 6, head = 4], <[{cp}, {}, {}]>>
!lse = !titan.tensor<f32[seq = 8, heads = 6], <[{cp}, {}]>>
func.func @heads(%q: !q) {
  // expected-error @+3 {{axis 'cp' of degree 4 cannot compute this attention by all_to_all: it does not divide the 6 elements of 'heads' that the other axes leave to a rank}}
  // expected-note @+2 {{the legal degrees are 1, 2, 3, 6}}
  // expected-note @+1 {{attention by ring or gather works with any number of heads}}
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !lse)
  %dq, %dk, %dv = titan.attention_grad %y, %q, %q, %q, %y, %lse along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !q, !q, !lse) -> (!q, !q, !q)
  return
}

// -----

// Another axis shards the heads, so that a rank has only half of them.
dist.mesh @mesh [#dist.axis<cp = 4>, #dist.axis<tp = 2>]
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention all_to_all
dist.axis_rules "tp" shards ["heads"] fallback [] stores []
!q = !titan.tensor<f32[seq = 8, heads = 4, head = 4], <[{cp}, {tp}, {}]>>
func.func @shared(%q: !q) {
  // expected-error @+3 {{it does not divide the 2 elements of 'heads' that the other axes leave to a rank}}
  // expected-note @+2 {{the legal degrees are 1, 2}}
  // expected-note @+1 {{any number of heads}}
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !titan.tensor<f32[seq = 8, heads = 4], <[{cp}, {tp}]>>)
  return
}

// -----

// Keys have no heads that the axis could shard.
dist.mesh @mesh [#dist.axis<cp = 2>]
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention all_to_all
!q = !titan.tensor<f32[seq = 8, heads = 4, head = 4], <[{cp}, {}, {}]>>
!k = !titan.tensor<f32[seq = 8, head = 4], <[{cp}, {}]>>
func.func @one_key_head(%q: !q, %k: !k) {
  // expected-error @+1 {{queries and keys share no dimension that it could shard instead of positions}}
  %y, %lse = titan.attention %q, %k, %k along "seq" head "head" {scale = 0.5} : (!q, !k, !k) -> (!q, !titan.tensor<f32[seq = 8, heads = 4], <[{cp}, {}]>>)
  return
}
