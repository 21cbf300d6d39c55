// RUN: titan-opt --dist-hoist-collectives --split-input-file %s | FileCheck %s
// RUN: titan-opt --dist-hoist-collectives="gather=step reduce=step" --split-input-file %s | FileCheck %s --check-prefix=STEP
// RUN: titan-opt --dist-hoist-collectives="gather=microbatch reduce=microbatch" --split-input-file %s | FileCheck %s --check-prefix=MICROBATCH

!i = !titan.tensor<i64[], <[]>>
!n = !titan.tensor<f32[], <[]>>
!tokens = !titan.tensor<i64[microbatches = 2, batch = 4], <[{}, {}]>>
!slot = !titan.tensor<i64[batch = 4], <[{}]>>
!ws = !titan.tensor<f32[layers = 3, x = 8], <[{}, {}] flat 1 {s}>>
!wf = !titan.tensor<f32[x = 8], <[{}] flat 0 {s}>>
!wb = !titan.tensor<bf16[x = 8], <[{}] flat 0 {s}>>
!xb = !titan.tensor<bf16[x = 8], <[{}]>>
!x = !titan.tensor<f32[x = 8], <[{}]>>
!px = !titan.tensor<f32[x = 8], <[{}] partial sum {r, s}>>
!pf = !titan.tensor<f32[x = 8], <[{}] flat 0 {s} partial sum {r}>>

// A stack of slots that are reduced to shards and over `r`, summed over two microbatches: over `r` once per step, by
// default on shards, with `reduce=step` on whole gradients. The gather stays in the loop by default, and leaves it
// with `gather=step`, after its cast. The gather before the loop moves into it unless `gather=step`.
// CHECK-LABEL: func.func @train
// CHECK-NOT: dist.all_gather
// CHECK: %[[PARTIAL:.*]] = dist.make_partial %{{.*}} over ["r"] : <f32[], <[]>>
// CHECK-NEXT: %[[INIT:.*]] = titan.expand %[[PARTIAL]] : {{.*}} -> {{.*}}<f32[layers = 3, x = 8], <[{}, {}] flat 1 {s} partial sum {r}>>
// CHECK-NEXT: %[[LOOP:.*]] = titan.repeat <microbatches = 2> iter_args(%[[INIT]]) scanned(%arg0)
// CHECK: dist.all_gather %arg2 over ["s"]
// CHECK: titan.repeat <layers = 3> iter_args() scanned(%arg1)
// CHECK: titan.cast
// CHECK-NEXT: dist.all_gather
// CHECK: %[[SCATTERED:.*]] = dist.reduce_scatter {{.*}} over ["s"]
// CHECK-NEXT: titan.yield %[[SCATTERED]]
// CHECK: titan.add {{.*}} -> {{.*}}<f32[layers = 3, x = 8], <[{}, {}] flat 1 {s} partial sum {r}>>
// CHECK: %[[SUM:.*]] = dist.all_reduce %[[LOOP]] over ["r"]
// CHECK-NEXT: return %[[SUM]]

// STEP-LABEL: func.func @train
// STEP: dist.all_gather %arg2
// STEP: %[[CAST:.*]] = titan.cast %arg1 : {{.*}} -> {{.*}}<bf16[layers = 3, x = 8], <[{}, {}] flat 1 {s}>>
// STEP-NEXT: %[[WHOLE:.*]] = dist.all_gather %[[CAST]] over ["s"] : {{.*}} -> {{.*}}<bf16[layers = 3, x = 8], <[{}, {}]>>
// STEP: titan.repeat <microbatches = 2>
// STEP: titan.repeat <layers = 3> iter_args() scanned(%[[WHOLE]])
// STEP-NEXT: ^bb0({{.*}}, %[[SLOT:[^:]*]]: !titan.tensor<bf16[x = 8], <[{}]>>)
// STEP-NOT: dist.all_gather
// STEP: titan.cast %[[SLOT]]
// STEP: titan.add {{.*}} -> {{.*}}<f32[layers = 3, x = 8], <[{}, {}] partial sum {r, s}>>
// STEP: %[[SHARDS:.*]] = dist.reduce_scatter {{.*}} over ["s"] : {{.*}} -> {{.*}}<f32[layers = 3, x = 8], <[{}, {}] flat 1 {s} partial sum {r}>>
// STEP-NEXT: dist.all_reduce %[[SHARDS]] over ["r"]

// MICROBATCH-LABEL: func.func @train
// MICROBATCH-NOT: dist.all_gather
// MICROBATCH: titan.repeat <microbatches = 2>
// MICROBATCH: dist.all_gather %arg2
// MICROBATCH: titan.repeat <layers = 3>
// MICROBATCH: dist.reduce_scatter
// MICROBATCH: dist.all_reduce
dist.mesh @mesh [#dist.axis<r = 2>, #dist.axis<s = 2>]
func.func @train(%tokens: !tokens {titan.input = "tokens"}, %w: !ws {titan.param = "w"}, %v: !wf {titan.param = "v"}) -> (!ws {titan.gradient = "w"}) attributes {titan.program = "train"} {
  %g = dist.all_gather %v over ["s"] : !wf -> !x
  %zero = titan.constant 0.0 : !n
  %zeros = titan.expand %zero : !n -> !ws
  %sum = titan.repeat <microbatches = 2> iter_args(%zeros) scanned(%tokens) : (!ws, !tokens) -> !ws {
  ^bb0(%m: !i, %before: !ws, %t: !slot):
    %stack = titan.repeat <layers = 3> iter_args() scanned(%w) : (!ws) -> !ws {
    ^bb0(%l: !i, %wl: !wf):
      %narrow = titan.cast %wl : !wf -> !wb
      %whole = dist.all_gather %narrow over ["s"] : !wb -> !xb
      %wide = titan.cast %whole : !xb -> !x
      %y = titan.mul %wide, %g : (!x, !x) -> !x
      %p = dist.make_partial %y over ["r", "s"] : !x -> !px
      %scattered = dist.reduce_scatter %p over ["s"] : !px -> !pf
      %reduced = dist.all_reduce %scattered over ["r"] : !pf -> !wf
      titan.yield %reduced : !wf
    }
    %next = titan.add %before, %stack : (!ws, !ws) -> !ws
    titan.yield %next : !ws
  }
  return %sum : !ws
}

// -----

!i = !titan.tensor<i64[], <[]>>
!n = !titan.tensor<f32[], <[]>>
!tokens = !titan.tensor<i64[microbatches = 2, batch = 4], <[{}, {}]>>
!slot = !titan.tensor<i64[batch = 4], <[{}]>>
!x = !titan.tensor<f32[x = 8], <[{}]>>
!p = !titan.tensor<f32[x = 8], <[{}] partial sum {r}>>

// A value that the loop also reads reduced stays reduced in it; so does a maximum.
// CHECK-LABEL: func.func @read
// CHECK: titan.repeat <microbatches = 2>
// CHECK: dist.all_reduce
// CHECK: return
dist.mesh @mesh [#dist.axis<r = 2>]
func.func @read(%tokens: !tokens {titan.input = "tokens"}, %v: !x {titan.param = "v"}) -> (!x, !x) attributes {titan.program = "train"} {
  %zero = titan.constant 0.0 : !n
  %zeros = titan.expand %zero : !n -> !x
  %ones = titan.constant 1.0 : !n
  %start = titan.expand %ones : !n -> !x
  %sum:2 = titan.repeat <microbatches = 2> iter_args(%zeros, %start) scanned(%tokens) : (!x, !x, !tokens) -> (!x, !x) {
  ^bb0(%m: !i, %before: !x, %other: !x, %t: !slot):
    %partial = dist.make_partial %v over ["r"] : !x -> !p
    %reduced = dist.all_reduce %partial over ["r"] : !p -> !x
    %next = titan.add %before, %reduced : (!x, !x) -> !x
    %product = titan.mul %other, %reduced : (!x, !x) -> !x
    titan.yield %next, %product : !x, !x
  }
  return %sum#0, %sum#1 : !x, !x
}

// -----

!i = !titan.tensor<i64[], <[]>>
!ws = !titan.tensor<f32[layers = 3, x = 8], <[{}, {}] flat 1 {s}>>
!wf = !titan.tensor<f32[x = 8], <[{}] flat 0 {s}>>
!wb = !titan.tensor<bf16[x = 8], <[{}] flat 0 {s}>>
!xb = !titan.tensor<bf16[x = 8], <[{}]>>
!x = !titan.tensor<f32[x = 8], <[{}]>>

// What all layers read whole is gathered once, for both passes and in every program; a slot in each layer.
// CHECK-LABEL: func.func @shared
// CHECK: %[[CAST:.*]] = titan.cast %arg1
// CHECK-NEXT: %[[WHOLE:.*]] = dist.all_gather %[[CAST]] over ["s"]
// CHECK: titan.repeat <layers = 3>
// CHECK-NOT: dist.all_gather %{{.*}} bf16
// CHECK: dist.all_gather %{{.*}} : !titan.tensor<f32
// CHECK-NOT: dist.all_gather
// CHECK: titan.mul %{{.*}}, %[[WHOLE]]
// CHECK: titan.repeat <layers = 3> reverse
// CHECK-NOT: dist.all_gather
// CHECK: titan.mul %{{.*}}, %[[WHOLE]]
dist.mesh @mesh [#dist.axis<s = 2>]
func.func @shared(%w: !ws {titan.param = "w"}, %v: !wf {titan.param = "v"}, %x: !xb) -> (!xb, !xb) attributes {titan.program = "logits"} {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!xb, !ws) -> !xb {
  ^bb0(%l: !i, %a: !xb, %wl: !wf):
    %0 = dist.all_gather %wl over ["s"] : !wf -> !x
    %1 = titan.cast %0 : !x -> !xb
    %2 = titan.cast %v : !wf -> !wb
    %3 = dist.all_gather %2 over ["s"] : !wb -> !xb
    %4 = titan.mul %a, %3 : (!xb, !xb) -> !xb
    %5 = titan.mul %4, %1 : (!xb, !xb) -> !xb
    titan.yield %5 : !xb
  }
  %z = titan.repeat <layers = 3> reverse iter_args(%x) scanned() : (!xb) -> !xb {
  ^bb0(%l: !i, %a: !xb):
    %2 = titan.cast %v : !wf -> !wb
    %3 = dist.all_gather %2 over ["s"] : !wb -> !xb
    %4 = titan.mul %a, %3 : (!xb, !xb) -> !xb
    titan.yield %4 : !xb
  }
  return %y, %z : !xb, !xb
}
