// RUN: titan-opt --dist-verify -verify-diagnostics -split-input-file %s

// Valid programs: sharded factors, forwarded partial sums, flat storage, replicated values.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @good(%x: !titan.tensor<f32[x = 8, y = 8], <[{}, {a}]>>, %f: !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>) {
  %0 = titan.reduce sum %x : !titan.tensor<f32[x = 8, y = 8], <[{}, {a}]>> -> !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>
  %1 = titan.neg %0 : !titan.tensor<f32[x = 8], <[{}] partial sum {a}>> -> !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>
  %2 = titan.neg %f : !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>> -> !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
  %3 = titan.contract %f, %f : (!titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>, !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>) -> !titan.tensor<f32[], <[] partial sum {a}>>
  return
}

// -----

// The result of a sum over a sharded dimension must be partial.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @forgotten(%x: !titan.tensor<f32[x = 8, y = 8], <[{}, {a}]>>) {
  // expected-note @+2 {{it gives}}
  // expected-error @+1 {{it splits 'y' over axis 'a', so the result must be partial over it}}
  %0 = titan.reduce sum %x : !titan.tensor<f32[x = 8, y = 8], <[{}, {a}]>> -> !titan.tensor<f32[x = 8], <[{}]>>
  return
}

// -----

// A nonlinear function of a partial sum is no partial sum.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @nonlinear(%x: !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>) {
  // expected-note @+2 {{it gives}}
  // expected-error @+1 {{no legal sharding over axis 'a'}}
  %0 = titan.exp %x : !titan.tensor<f32[x = 8], <[{}] partial sum {a}>> -> !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>
  return
}

// -----

// A replicated tensor added to partial sums would be added on every rank.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @joined(%x: !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>, %y: !titan.tensor<f32[x = 8], <[{}]>>) {
  // expected-note @+2 {{it gives}}
  // expected-error @+1 {{no legal sharding over axis 'a'}}
  %0 = titan.add %x, %y : (!titan.tensor<f32[x = 8], <[{}] partial sum {a}>>, !titan.tensor<f32[x = 8], <[{}]>>) -> !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>
  return
}

// -----

// Operands must have equal shardings; the note has the location of the other operand.
dist.mesh @mesh [#dist.axis<a = 2>]
// expected-note @+1 {{the operand is '!titan.tensor<f32[x = 8], <[{}]>>'}}
func.func @mixed(%x: !titan.tensor<f32[x = 8], <[{a}]>>, %y: !titan.tensor<f32[x = 8], <[{}]>>) {
  // expected-note @+2 {{it gives}}
  // expected-error @+1 {{it splits 'x' over axis 'a', but operand 1 has another sharding}}
  %0 = titan.add %x, %y : (!titan.tensor<f32[x = 8], <[{a}]>>, !titan.tensor<f32[x = 8], <[{}]>>) -> !titan.tensor<f32[x = 8], <[{a}]>>
  return
}

// -----

// Positions of queries may be sharded, positions of keys may not.
dist.mesh @mesh [#dist.axis<a = 2>]
!q = !titan.tensor<f32[seq = 8, head = 2], <[{a}, {}]>>
!k = !titan.tensor<f32[seq = 8, head = 2], <[{}, {}]>>
!lse = !titan.tensor<f32[seq = 8], <[{a}]>>
// expected-note @+1 {{the operand is}}
func.func @attention(%q: !q, %k: !k) {
  %0, %1 = titan.attention %q, %k, %k along "seq" head "head" {scale = 1.0} : (!q, !k, !k) -> (!q, !lse)
  // expected-note @+2 {{it gives}}
  // expected-error @+1 {{it splits 'seq' over axis 'a', but operand 1 has another sharding}}
  %2, %3 = titan.attention %q, %q, %q along "seq" head "head" {scale = 1.0} : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

// A maximum over a sharded dimension is not a partial sum.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @kind(%x: !titan.tensor<f32[x = 8], <[{a}]>>) {
  // expected-note @+2 {{it gives}}
  // expected-error @+1 {{which leads to another kind of partial value}}
  %0 = titan.reduce max %x : !titan.tensor<f32[x = 8], <[{a}]>> -> !titan.tensor<f32[], <[] partial sum {a}>>
  return
}

// -----

// A contraction of flat storage gives only a scalar.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @flat(%x: !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>, %y: !titan.tensor<f32[y = 8], <[{}]>>) {
  // expected-note @+2 {{it gives}}
  // expected-error @+1 {{no legal sharding over axis 'a'}}
  %0 = titan.contract %x, %y : (!titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>, !titan.tensor<f32[y = 8], <[{}]>>) -> !titan.tensor<f32[x = 8, y = 8], <[{}, {}]>>
  return
}

// -----

// No sharding constraint may remain.
func.func @left(%x: !titan.tensor<f32[x = 8], <[{}]>>) {
  // expected-error @+1 {{must not remain after the shard phase}}
  %0 = titan.sharding_constraint %x : !titan.tensor<f32[x = 8], <[{}]>> -> !titan.tensor<f32[x = 8], <[{}]>>
  return
}

// -----

// Every tensor needs a sharding.
// expected-error @+1 {{a tensor has no sharding after the shard phase}}
func.func @silent(%x: !titan.tensor<f32[x = 8]>) {
  return
}

// -----

// Degrees must divide dimensions.
dist.mesh @mesh [#dist.axis<a = 3>]
// expected-error @+1 {{dimension "x" of size 8 is not divisible by its degree 3}}
func.func @uneven(%x: !titan.tensor<f32[x = 8], <[{a}]>>) {
  return
}

// -----

// An iteration argument has one sharding.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @carried(%x: !titan.tensor<f32[x = 8], <[{a}]>>) {
  // expected-error @+1 {{carries value 0 with different shardings}}
  %0 = titan.repeat <layers = 2> iter_args(%x) scanned() : (!titan.tensor<f32[x = 8], <[{a}]>>) -> !titan.tensor<f32[x = 8], <[{}]>> {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %c: !titan.tensor<f32[x = 8], <[{a}]>>):
    // expected-note @+1 {{it starts as}}
    titan.yield %c : !titan.tensor<f32[x = 8], <[{a}]>>
  }
  return
}

// -----

// The leading dimension of a stack is not sharded.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @stack(%x: !titan.tensor<f32[layers = 2, x = 8], <[{a}, {}]>>) {
  // expected-error @+1 {{has a stack whose first dimension is split}}
  titan.repeat <layers = 2> iter_args() scanned(%x) : (!titan.tensor<f32[layers = 2, x = 8], <[{a}, {}]>>) -> () {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %s: !titan.tensor<f32[x = 8], <[{}]>>):
    titan.yield
  }
  return
}

// -----

// A function returns no partial sums.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @returned(%x: !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>) -> !titan.tensor<f32[x = 8], <[{}] partial sum {a}>> {
  // expected-error @+1 {{result 0 of the function is partial}}
  return %x : !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>
}

// -----

// A result that is marked as unreduced may be a partial sum.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @unreduced(%x: !titan.tensor<f32[], <[] partial sum {a}>>)
    -> (!titan.tensor<f32[], <[] partial sum {a}>> {titan.output = "local_loss", titan.unreduced}) {
  return %x : !titan.tensor<f32[], <[] partial sum {a}>>
}

// -----

// Padded flat storage is not sharded further: 6 elements on 4 ranks are chunks of 2, but not halves of halves.
dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]
func.func @padded(%x: !titan.tensor<f32[x = 6], <[{}] flat 0 {a}>>) {
  // expected-error @+1 {{shards padded flat storage again}}
  %0 = dist.local_slice %x over ["b"] : !titan.tensor<f32[x = 6], <[{}] flat 0 {a}>> -> !titan.tensor<f32[x = 6], <[{}] flat 0 {a, b}>>
  return
}

// -----

// Operands with different orders are different shards.
dist.mesh @mesh [#dist.axis<a = 2>]
func.func @orders(%x: !titan.tensor<f32[x = 8], <[{a}]>>, %y: !titan.tensor<f32[x = 8], <[{a headtail}]>>) {
  // expected-error @+1 {{has shards in block and in head-tail order}}
  %0 = titan.add %x, %y : (!titan.tensor<f32[x = 8], <[{a}]>>, !titan.tensor<f32[x = 8], <[{a headtail}]>>) -> !titan.tensor<f32[x = 8], <[{a}]>>
  return
}

// -----

// A dimension in head-tail order has two blocks per rank.
dist.mesh @mesh [#dist.axis<a = 2>]
// expected-error @+1 {{dimension "x" of size 6 is not divisible by the blocks of head-tail order, 4}}
func.func @blocks(%x: !titan.tensor<f32[x = 6], <[{a headtail}]>>) {
  return
}

// -----

// Only one axis may have head-tail order.
dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]
dist.axis_rules "a" shards ["x"] fallback [] stores [] headtail
// expected-error @+1 {{a second axis has head-tail order}}
dist.axis_rules "b" shards ["y"] fallback [] stores [] headtail
func.func @two() {
  return
}

// -----

// In a ring, keys pass around the ranks.
dist.mesh @mesh [#dist.axis<cp = 2>]
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention ring
!q = !titan.tensor<f32[seq = 8, head = 4], <[{cp}, {}]>>
func.func @missing(%q: !q) {
  // expected-error @+1 {{has keys over ["cp"] and no ring that passes them around}}
  %y, %lse = titan.attention %q, %q, %q along "seq" head "head" {scale = 0.5} : (!q, !q, !q) -> (!q, !titan.tensor<f32[seq = 8], <[{cp}]>>)
  return
}

// -----

// Only the axes of a ring shard the keys.
dist.mesh @mesh [#dist.axis<cp = 2>]
dist.axis_rules "cp" shards ["seq"] fallback [] stores []
!q = !titan.tensor<f32[seq = 8, head = 4], <[{cp}, {}]>>
// expected-note @+1 {{the operand is}}
func.func @no_ring(%q: !q, %step: !titan.tensor<i64[], <[]>>) {
  // expected-error @+2 {{it splits 'seq' over axis 'cp', but operand 1 has another sharding}}
  // expected-note @+1 {{it gives}}
  %y, %lse = titan.attention %q, %q, %q ring %step over ["cp"] along "seq" head "head" {scale = 0.5} : (!q, !q, !q, !titan.tensor<i64[], <[]>>) -> (!q, !titan.tensor<f32[seq = 8], <[{cp}]>>)
  return
}
