// RUN: titan-opt --dist-bucket-collectives --split-input-file %s | FileCheck %s

dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]
!s = !titan.tensor<f32[x = 8, y = 8], <[{}, {}] flat 0 {a}>>
!w = !titan.tensor<f32[x = 8, y = 8], <[{}, {}]>>
!c = !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>
!r = !titan.tensor<f32[x = 8], <[{}]>>

// All-gathers are coalesced before their first use.
// CHECK-LABEL: func.func @gathers
// CHECK-NEXT: titan.tanh
// CHECK-NEXT: %[[G:.*]]:3 = dist.all_gather %arg0, %arg1, %arg2 over ["a"]
// CHECK-NEXT: titan.mul %{{.*}}, %[[G]]#0
// CHECK-NEXT: titan.mul %{{.*}}, %[[G]]#1
// CHECK-NEXT: titan.mul %{{.*}}, %[[G]]#2
func.func @gathers(%p: !s, %q: !s, %o: !s, %x: !w) -> !w {
  %t = titan.tanh %x : !w -> !w
  %0 = dist.all_gather %p over ["a"] : !s -> !w
  %1 = titan.mul %t, %0 : (!w, !w) -> !w
  %2 = dist.all_gather %q over ["a"] : !s -> !w
  %3 = titan.mul %1, %2 : (!w, !w) -> !w
  %4 = dist.all_gather %o over ["a"] : !s -> !w
  %5 = titan.mul %3, %4 : (!w, !w) -> !w
  return %5 : !w
}

// Reductions are coalesced after their last operand. A reduction that depends on another one is separate.
// CHECK-LABEL: func.func @reductions
// CHECK-NEXT: %[[A:.*]]:2 = dist.all_reduce %arg0, %arg1 over ["a"]
// CHECK-NEXT: %[[E:.*]] = titan.exp %[[A]]#0
// CHECK-NEXT: %[[M:.*]] = dist.make_partial %[[E]]
// CHECK-NEXT: dist.all_reduce %[[M]] over ["a"]
func.func @reductions(%x: !c, %y: !c) -> (!r, !r) {
  %0 = dist.all_reduce %x over ["a"] : !c -> !r
  %1 = titan.exp %0 : !r -> !r
  %2 = dist.all_reduce %y over ["a"] : !c -> !r
  %3 = dist.make_partial %1 over ["a"] : !r -> !c
  %4 = dist.all_reduce %3 over ["a"] : !c -> !r
  return %2, %4 : !r, !r
}

// -----

dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]
!ca = !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>
!cb = !titan.tensor<f32[x = 8], <[{}] partial sum {b}>>
!ma = !titan.tensor<f32[x = 8], <[{}] partial max {a}>>
!da = !titan.tensor<f64[x = 8], <[{}] partial sum {a}>>
!r = !titan.tensor<f32[x = 8], <[{}]>>
!d = !titan.tensor<f64[x = 8], <[{}]>>

// Different axes, reduction kinds or element types are not coalesced.
// CHECK-LABEL: func.func @kinds
// CHECK-COUNT-4: = dist.all_reduce %arg{{[0-3]}} over
func.func @kinds(%x: !ca, %y: !cb, %z: !ma, %v: !da) -> (!r, !r, !r, !d) {
  %0 = dist.all_reduce %x over ["a"] : !ca -> !r
  %1 = dist.all_reduce %y over ["b"] : !cb -> !r
  %2 = dist.all_reduce %z over ["a"] : !ma -> !r
  %3 = dist.all_reduce %v over ["a"] : !da -> !d
  return %0, %1, %2, %3 : !r, !r, !r, !d
}

// No bucket crosses a repeat; otherwise its values would be live during the repeat.
// CHECK-LABEL: func.func @repeats
// CHECK-NEXT: dist.all_reduce %arg0 over ["a"]
// CHECK-NEXT: titan.repeat
// CHECK: dist.all_reduce %arg1 over ["a"]
func.func @repeats(%x: !ca, %y: !ca) -> (!r, !r) {
  %0 = dist.all_reduce %x over ["a"] : !ca -> !r
  titan.repeat <layers = 2> iter_args() scanned() : () -> () {
  ^bb0(%l: !titan.tensor<i64[], <[]>>):
    titan.yield
  }
  %1 = dist.all_reduce %y over ["a"] : !ca -> !r
  return %0, %1 : !r, !r
}

// -----

dist.mesh @mesh [#dist.axis<a = 2>]
!c = !titan.tensor<f32[x = 16777216], <[{}] partial sum {a}>>
!r = !titan.tensor<f32[x = 16777216], <[{}]>>

// A reduction of 64 MiB stays alone, because it exceeds the limit of a bucket.
// CHECK-LABEL: func.func @large
// CHECK-COUNT-2: = dist.all_reduce %arg{{[01]}} over
func.func @large(%x: !c, %y: !c) -> (!r, !r) {
  %0 = dist.all_reduce %x over ["a"] : !c -> !r
  %1 = dist.all_reduce %y over ["a"] : !c -> !r
  return %0, %1 : !r, !r
}

// -----

dist.mesh @mesh [#dist.axis<a = 2>]
!x = !titan.tensor<f32[x = 131072], <[{}]>>
!c = !titan.tensor<f32[x = 131072], <[{}] partial sum {a}>>
!r = !titan.tensor<f32[x = 131072], <[{}]>>

// Reductions of 2 MiB in total are two buckets: the first starts before the operands of the second are computed.
// CHECK-LABEL: func.func @halves
// CHECK: %[[A:.*]] = dist.make_partial %arg0
// CHECK-NEXT: %[[B:.*]] = dist.make_partial %arg1
// CHECK-NEXT: dist.all_reduce %[[A]], %[[B]] over ["a"]
// CHECK-NEXT: %[[C:.*]] = dist.make_partial %arg2
// CHECK-NEXT: %[[D:.*]] = dist.make_partial %arg3
// CHECK-NEXT: dist.all_reduce %[[C]], %[[D]] over ["a"]
func.func @halves(%x: !x, %y: !x, %z: !x, %v: !x) -> (!r, !r, !r, !r) {
  %0 = dist.make_partial %x over ["a"] : !x -> !c
  %1 = dist.all_reduce %0 over ["a"] : !c -> !r
  %2 = dist.make_partial %y over ["a"] : !x -> !c
  %3 = dist.all_reduce %2 over ["a"] : !c -> !r
  %4 = dist.make_partial %z over ["a"] : !x -> !c
  %5 = dist.all_reduce %4 over ["a"] : !c -> !r
  %6 = dist.make_partial %v over ["a"] : !x -> !c
  %7 = dist.all_reduce %6 over ["a"] : !c -> !r
  return %1, %3, %5, %7 : !r, !r, !r, !r
}

// -----

dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]
!s = !titan.tensor<f32[x = 8, y = 8], <[{}, {}] flat 0 {a}>>
!n = !titan.tensor<bf16[x = 8, y = 8], <[{}, {}] flat 0 {a}>>
!w = !titan.tensor<bf16[x = 8, y = 8], <[{}, {}]>>

// Casts before gathers do not prevent coalescing; after the pass, each cast is before its gather again.
// CHECK-LABEL: func.func @casts_before
// CHECK-NEXT: titan.tanh
// CHECK-NEXT: %[[P:.*]] = titan.cast %arg0
// CHECK-NEXT: %[[Q:.*]] = titan.cast %arg1
// CHECK-NEXT: %[[G:.*]]:2 = dist.all_gather %[[P]], %[[Q]] over ["a"]
// CHECK-NEXT: titan.mul %{{.*}}, %[[G]]#0
// CHECK-NEXT: titan.mul %{{.*}}, %[[G]]#1
func.func @casts_before(%p: !s, %q: !s, %x: !w) -> !w {
  %t = titan.tanh %x : !w -> !w
  %0 = titan.cast %p : !s -> !n
  %1 = dist.all_gather %0 over ["a"] : !n -> !w
  %2 = titan.mul %t, %1 : (!w, !w) -> !w
  %3 = titan.cast %q : !s -> !n
  %4 = dist.all_gather %3 over ["a"] : !n -> !w
  %5 = titan.mul %2, %4 : (!w, !w) -> !w
  return %5 : !w
}

// -----

dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]
!p = !titan.tensor<f32[x = 8], <[{}] partial sum {a, b}>>
!h = !titan.tensor<f32[x = 8], <[{}] flat 0 {a} partial sum {b}>>
!f = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!d = !titan.tensor<f64[x = 8], <[{}] flat 0 {a}>>

// Casts and second reductions after reductions do not prevent coalescing either.
// CHECK-LABEL: func.func @chains
// CHECK-NEXT: titan.add
// CHECK-NEXT: titan.add
// CHECK-NEXT: %[[S:.*]]:2 = dist.reduce_scatter %{{.*}}, %{{.*}} over ["a"]
// CHECK-NEXT: %[[R:.*]]:2 = dist.all_reduce %[[S]]#0, %[[S]]#1 over ["b"]
// CHECK-NEXT: titan.cast %[[R]]#0
// CHECK-NEXT: titan.cast %[[R]]#1
// CHECK-NEXT: return
func.func @chains(%x: !p, %y: !p) -> (!d, !d) {
  %0 = titan.add %x, %x : (!p, !p) -> !p
  %1 = dist.reduce_scatter %0 over ["a"] : !p -> !h
  %2 = dist.all_reduce %1 over ["b"] : !h -> !f
  %3 = titan.cast %2 : !f -> !d
  %4 = titan.add %y, %y : (!p, !p) -> !p
  %5 = dist.reduce_scatter %4 over ["a"] : !p -> !h
  %6 = dist.all_reduce %5 over ["b"] : !h -> !f
  %7 = titan.cast %6 : !f -> !d
  return %3, %7 : !d, !d
}
