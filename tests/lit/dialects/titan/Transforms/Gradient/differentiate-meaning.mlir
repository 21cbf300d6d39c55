// RUN: titan-opt %s --titan-differentiate | titan-interpret - --program train --vocab 4 --check-gradients | FileCheck %s

// Every operation's gradient against finite differences, in one program. Parameters are named after
// the operations that they enter. Each case weights its result by %w, so that cotangents differ.
// CHECK-NOT: DIFFERS
// CHECK-COUNT-28: agrees
// CHECK-NOT: DIFFERS

!t = !titan.tensor<f64[seq = 4, embed = 6]>
!u = !titan.tensor<f64[embed = 6, seq = 4]>
!row = !titan.tensor<f64[seq = 4]>
!s = !titan.tensor<f64[]>
!bits = !titan.tensor<i1[seq = 4, embed = 6]>
!table = !titan.tensor<f64[vocab = 4, embed = 6]>
!ids = !titan.tensor<i64[batch = 1, seq = 4]>
!rows = !titan.tensor<f64[batch = 1, seq = 4, embed = 6]>
!wide = !titan.tensor<f64[embed = 6, ffn = 3]>
!hidden = !titan.tensor<f64[seq = 4, ffn = 3]>
!heads = !titan.tensor<f64[seq = 4, two = 2, head = 3]>
!part = !titan.tensor<f64[seq = 4, part = 4 of embed]>
!q = !titan.tensor<f64[seq = 4, kv = 2, group = 2, head = 2]>
!k = !titan.tensor<f64[seq = 4, kv = 2, head = 2]>
!lse = !titan.tensor<f64[seq = 4, kv = 2, group = 2]>
!lt = !titan.tensor<f64[layers = 3, embed = 6]>
!blt = !titan.tensor<f64[blocks = 2, layers = 3, embed = 6]>
!bt = !titan.tensor<f64[blocks = 2, embed = 6]>
!e = !titan.tensor<f64[embed = 6]>
!i = !titan.tensor<i64[]>
#n = #titan.init<normal, [1.0]>

func.func @train(
    %tokens: !ids {titan.input = "tokens"},
    %w: !t {titan.param = "w", titan.frozen, titan.init = #n},
    %wq: !q {titan.param = "wq", titan.frozen, titan.init = #n},
    %unary: !t {titan.param = "unary", titan.init = #n},
    %addl: !t {titan.param = "add.l", titan.init = #n}, %addr: !row {titan.param = "add.r", titan.init = #n},
    %subl: !row {titan.param = "sub.l", titan.init = #n}, %subr: !t {titan.param = "sub.r", titan.init = #n},
    %mull: !t {titan.param = "mul.l", titan.init = #n}, %mulr: !u {titan.param = "mul.r", titan.init = #n},
    %divl: !t {titan.param = "div.l", titan.init = #n}, %divr: !row {titan.param = "div.r", titan.init = #n},
    %maxl: !t {titan.param = "max.l", titan.init = #n}, %maxr: !row {titan.param = "max.r", titan.init = #n},
    %sell: !t {titan.param = "select.l", titan.init = #n}, %selr: !row {titan.param = "select.r", titan.init = #n},
    %red: !t {titan.param = "reduce", titan.init = #n},
    %table: !table {titan.param = "take", titan.init = #n},
    %updates: !t {titan.param = "put", titan.init = #n},
    %mml: !t {titan.param = "contract.l", titan.init = #n}, %mmr: !wide {titan.param = "contract.r", titan.init = #n},
    %views: !t {titan.param = "views", titan.init = #n},
    %aq: !q {titan.param = "attention.q", titan.init = #n}, %ak: !k {titan.param = "attention.k", titan.init = #n},
    %av: !k {titan.param = "attention.v", titan.init = #n},
    %carry: !t {titan.param = "repeat.carry", titan.init = #n},
    %other: !t {titan.param = "repeat.other", titan.init = #n},
    %captured: !e {titan.param = "repeat.captured", titan.init = #n},
    %slices: !lt {titan.param = "repeat.slices", titan.stacked, titan.init = #n},
    %outer: !bt {titan.param = "nested.outer", titan.stacked, titan.init = #n},
    %inner: !blt {titan.param = "nested.inner", titan.stacked, titan.init = #n})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  // tanh, sigmoid, exp, neg, log, sqrt, rsqrt, cast.
  %u0 = titan.tanh %unary : !t -> !t
  %u1 = titan.sigmoid %u0 : !t -> !t
  %u2 = titan.exp %u1 : !t -> !t
  %u3 = titan.log %u2 : !t -> !t
  %u4 = titan.sqrt %u3 : !t -> !t
  %u5 = titan.rsqrt %u2 : !t -> !t
  %u6 = titan.mul %u4, %u5 : (!t, !t) -> !t
  %u7 = titan.neg %u6 : !t -> !t
  %u8 = titan.cast %u7 : !t -> !t
  %u9 = titan.mul %u8, %w : (!t, !t) -> !t
  %l0 = titan.reduce sum %u9 : !t -> !s

  // Binary operations with an operand that is expanded, or has another order of dimensions.
  %b0 = titan.add %addl, %addr : (!t, !row) -> !t
  %b1 = titan.sub %subl, %subr : (!row, !t) -> !t
  %b2 = titan.mul %mull, %mulr : (!t, !u) -> !t
  %b3 = titan.exp %divr : !row -> !row
  %b4 = titan.div %divl, %b3 : (!t, !row) -> !t
  %b5 = titan.maximum %maxl, %maxr : (!t, !row) -> !t
  %b6 = titan.minimum %b5, %addl : (!t, !t) -> !t
  %b7 = titan.compare gt, %w, %selr : (!t, !row) -> !bits
  %b8 = titan.select %b7, %sell, %selr : (!bits, !t, !row) -> !t
  %b9 = titan.mul %b0, %b1 : (!t, !t) -> !t
  %b10 = titan.add %b9, %b2 : (!t, !t) -> !t
  %b11 = titan.add %b10, %b4 : (!t, !t) -> !t
  %b12 = titan.add %b11, %b6 : (!t, !t) -> !t
  %b13 = titan.add %b12, %b8 : (!t, !t) -> !t
  %b14 = titan.mul %b13, %w : (!t, !t) -> !t
  %l1 = titan.reduce sum %b14 : !t -> !s

  // Reductions and expansion.
  %r0 = titan.reduce max %red : !t -> !row
  %r1 = titan.reduce min %red : !t -> !e
  %r2 = titan.reduce sum %red : !t -> !row
  %r3 = titan.mul %r0, %r2 : (!row, !row) -> !row
  %r4 = titan.expand %r1 : !e -> !t
  %r5 = titan.mul %r4, %r3 : (!t, !row) -> !t
  %r6 = titan.mul %r5, %w : (!t, !t) -> !t
  %l2 = titan.reduce sum %r6 : !t -> !s

  // Indexing: gathered rows, a gathered element per row, scattered rows.
  %i0 = titan.gather %table along "vocab" at %tokens : (!table, !ids) -> !rows
  %i1 = titan.gather %i0 along "embed" at %tokens : (!rows, !ids) -> !titan.tensor<f64[batch = 1, seq = 4]>
  %i2 = titan.mul %i0, %i1 : (!rows, !titan.tensor<f64[batch = 1, seq = 4]>) -> !rows
  %i3 = titan.scatter %updates along "vocab" at %tokens : (!t, !ids) -> !table
  %i4 = titan.mul %i3, %table : (!table, !table) -> !table
  %i5 = titan.reduce sum %i4 : !table -> !e
  %i6 = titan.add %i2, %i5 : (!rows, !e) -> !rows
  %i7 = titan.mul %i6, %w : (!rows, !t) -> !rows
  %l3 = titan.reduce sum %i7 : !rows -> !s

  // Contraction; split, merge, rename, slice, pad, sharding constraint, rotary.
  %m0 = titan.contract %mml, %mmr : (!t, !wide) -> !hidden
  %m1 = titan.tanh %m0 : !hidden -> !hidden
  %m2 = titan.contract %m1, %mmr : (!hidden, !wide) -> !t
  %m3 = titan.sharding_constraint %m2 : !t -> !t
  %v0 = titan.split %views dim "embed" : !t -> !heads
  %v1 = titan.exp %v0 : !heads -> !heads
  %v2 = titan.merge %v1 dim "embed" : !heads -> !t
  %v3 = titan.rename %v2 : !t -> !titan.tensor<f64[keys = 4 of seq, embed = 6]>
  %v4 = titan.rename %v3 : !titan.tensor<f64[keys = 4 of seq, embed = 6]> -> !t
  %v5 = titan.slice %v4 dim "embed" from 1 : !t -> !part
  %v6 = titan.tanh %v5 : !part -> !part
  %v7 = titan.pad %v6 dim "embed" from 2 : !part -> !t
  %v8 = titan.rotary %v7 along "seq" dim "embed" {theta = 10.0, interleaved} : !t -> !t
  %v9 = titan.rotary %v4 along "seq" dim "embed" {theta = 10.0} : !t -> !t
  %v10 = titan.add %v8, %v9 : (!t, !t) -> !t
  %v11 = titan.mul %v10, %m3 : (!t, !t) -> !t
  %v12 = titan.mul %v11, %w : (!t, !t) -> !t
  %l4 = titan.reduce sum %v12 : !t -> !s

  // Causal attention with grouped queries.
  %a0, %a1 = titan.attention %aq, %ak, %av along "seq" head "head" {scale = 0.7, causal} : (!q, !k, !k) -> (!q, !lse)
  %a2 = titan.mul %a0, %wq : (!q, !q) -> !q
  %l5 = titan.reduce sum %a2 : !q -> !s

  // A repeat with two iteration arguments, a capture and a stacked output.
  %c0 = titan.tanh %captured : !e -> !e
  %c:3 = titan.repeat <layers = 3> iter_args(%carry, %other) scanned(%slices)
      : (!t, !t, !lt) -> (!t, !t, !titan.tensor<f64[layers = 3, seq = 4]>) {
  ^bb0(%l: !i, %x: !t, %y: !t, %wl: !e):
    %0 = titan.mul %x, %wl : (!t, !e) -> !t
    %1 = titan.sigmoid %0 : !t -> !t
    %2 = titan.mul %1, %c0 : (!t, !e) -> !t
    %3 = titan.cast %l : !i -> !s
    %4 = titan.add %2, %3 : (!t, !s) -> !t
    %5 = titan.add %4, %y : (!t, !t) -> !t
    %6 = titan.reduce sum %2 : !t -> !row
    titan.yield %5, %x, %6 : !t, !t, !row
  }
  %c1 = titan.mul %c#0, %c#1 : (!t, !t) -> !t
  %c2 = titan.reduce sum %c#2 : !titan.tensor<f64[layers = 3, seq = 4]> -> !row
  %c3 = titan.mul %c1, %c2 : (!t, !row) -> !t
  %c4 = titan.mul %c3, %w : (!t, !t) -> !t
  %l6 = titan.reduce sum %c4 : !t -> !s

  // A nested repeat; the inner one is reversed.
  %n = titan.repeat <blocks = 2> iter_args(%c1) scanned(%outer, %inner) : (!t, !bt, !blt) -> !t {
  ^bb0(%k: !i, %x: !t, %wo: !e, %wi: !lt):
    %0 = titan.sigmoid %wo : !e -> !e
    %1 = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%wi) : (!t, !lt) -> !t {
    ^bb0(%l: !i, %y: !t, %wl: !e):
      %2 = titan.mul %y, %wl : (!t, !e) -> !t
      %3 = titan.mul %2, %0 : (!t, !e) -> !t
      %4 = titan.tanh %3 : !t -> !t
      %5 = titan.add %4, %c0 : (!t, !e) -> !t
      titan.yield %5 : !t
    }
    %6 = titan.mul %1, %x : (!t, !t) -> !t
    titan.yield %6 : !t
  }
  %n1 = titan.mul %n, %w : (!t, !t) -> !t
  %l7 = titan.reduce sum %n1 : !t -> !s

  %s1 = titan.add %l0, %l1 : (!s, !s) -> !s
  %s2 = titan.add %s1, %l2 : (!s, !s) -> !s
  %s3 = titan.add %s2, %l3 : (!s, !s) -> !s
  %s4 = titan.add %s3, %l4 : (!s, !s) -> !s
  %s5 = titan.add %s4, %l5 : (!s, !s) -> !s
  %s6 = titan.add %s5, %l6 : (!s, !s) -> !s
  %loss = titan.add %s6, %l7 : (!s, !s) -> !s
  return %loss : !s
}
