// RUN: titan-opt --split-input-file --dist-pad-dimensions %s | FileCheck %s

// A maximum masks padding with minus infinity. A sum of a product needs no mask, because the product of
// zeros is 0; a sum of exponentials does.
// CHECK-LABEL: func.func @reductions(%arg0: !titan.tensor<f32[vocab = 8]> {titan.unpadded = array<i64: 7>},
// CHECK-SAME: -> (!titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>)
// CHECK: %[[TWICE:.*]] = titan.mul
// CHECK: %[[ZERO:.*]] = titan.constant 0.000000e+00 : <f32[]>
// CHECK-NEXT: %[[ZEROED:.*]] = titan.select %{{.*}}, %[[TWICE]], %[[ZERO]]
// CHECK-NEXT: %[[AT:.*]] = titan.iota : <i64[vocab = 8]>
// CHECK-NEXT: %[[SIZE:.*]] = titan.constant 7 : <i64[]>
// CHECK-NEXT: %[[IN:.*]] = titan.compare lt, %[[AT]], %[[SIZE]]
// CHECK-NEXT: %[[LOW:.*]] = titan.constant 0xFFF0000000000000 : <f32[]>
// CHECK-NEXT: %[[MASKED:.*]] = titan.select %[[IN]], %[[TWICE]], %[[LOW]]
// CHECK-NEXT: titan.reduce max %[[MASKED]]
// CHECK-NEXT: titan.reduce sum %[[ZEROED]]
// CHECK-NEXT: %[[EXP:.*]] = titan.exp %[[TWICE]]
// CHECK: %[[KNOWN:.*]] = titan.select {{.*}}, %[[EXP]],
// CHECK-NEXT: titan.reduce sum %[[KNOWN]]
dist.mesh @mesh [#dist.axis<tp = 2>]
dist.axis_rules "tp" shards ["vocab"] fallback [] stores [] pads ["vocab"]
func.func @reductions(%x: !titan.tensor<f32[vocab = 7]>, %two: !titan.tensor<f32[]>)
    -> (!titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>) {
  %y = titan.mul %x, %two : (!titan.tensor<f32[vocab = 7]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[vocab = 7]>
  %max = titan.reduce max %y : !titan.tensor<f32[vocab = 7]> -> !titan.tensor<f32[]>
  %sum = titan.reduce sum %y : !titan.tensor<f32[vocab = 7]> -> !titan.tensor<f32[]>
  %e = titan.exp %y : <f32[vocab = 7]> -> <f32[vocab = 7]>
  %all = titan.reduce sum %e : !titan.tensor<f32[vocab = 7]> -> !titan.tensor<f32[]>
  return %max, %sum, %all : !titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>
}

// -----

// The padding of a product with a finite number is 0. A product with any other number needs no mask before a product:
// the result is not finite without padding either. A select may hide that, so its result is masked.
// CHECK-LABEL: func.func @infinite(
// CHECK: %[[HALF:.*]] = titan.mul %arg0, %{{.*}} :
// CHECK-NEXT: titan.reduce sum %[[HALF]]
// CHECK-NEXT: %[[TIMES:.*]] = titan.mul %arg0, %arg1
// CHECK-NEXT: titan.contract %[[TIMES]], %[[TIMES]]
// CHECK-NEXT: %[[NAN:.*]] = titan.compare ne, %[[TIMES]], %[[TIMES]]
// CHECK-NEXT: %[[CHOSEN:.*]] = titan.select %[[NAN]], %[[TIMES]], %arg0
// CHECK: %[[MASKED:.*]] = titan.select %{{.*}}, %[[CHOSEN]],
// CHECK-NEXT: titan.contract %[[MASKED]], %arg0
dist.mesh @mesh [#dist.axis<tp = 2>]
dist.axis_rules "tp" shards ["vocab"] fallback [] stores [] pads ["vocab"]
!s = !titan.tensor<f32[]>
!v = !titan.tensor<f32[vocab = 7]>
func.func @infinite(%x: !v, %any: !s) -> (!s, !s, !s) {
  %half = titan.constant 0.5 : !s
  %y = titan.mul %x, %half : (!v, !s) -> !v
  %sum = titan.reduce sum %y : !v -> !s
  %z = titan.mul %x, %any : (!v, !s) -> !v
  %square = titan.contract %z, %z : (!v, !v) -> !s
  %nan = titan.compare ne, %z, %z : (!v, !v) -> !titan.tensor<i1[vocab = 7]>
  %chosen = titan.select %nan, %z, %x : (!titan.tensor<i1[vocab = 7]>, !v, !v) -> !v
  %product = titan.contract %chosen, %x : (!v, !v) -> !s
  return %sum, %square, %product : !s, !s, !s
}

// -----

// A gather selects no padding, and a scatter leaves zeros there, so neither needs a mask. All axes
// together determine the padded size of a dimension, also of a renamed one.
// CHECK-LABEL: func.func @indices(
// CHECK-NOT: titan.select
// CHECK: titan.gather {{.*}}embed = 4, vocab = 12]>, {{.*}} -> !titan.tensor<f32[seq = 2, embed = 4]>
// CHECK: titan.scatter {{.*}} -> !titan.tensor<f32[vocab = 12]>
// CHECK-NEXT: titan.rename {{.*}} -> <f32[keys = 12 of vocab]>
// CHECK-NEXT: titan.reduce sum
dist.mesh @mesh [#dist.axis<tp = 2>, #dist.axis<zp = 3>]
dist.axis_rules "tp" shards ["vocab"] fallback [] stores [] pads ["vocab"]
dist.axis_rules "zp" shards [] fallback ["vocab"] stores []
func.func @indices(%x: !titan.tensor<f32[embed = 4, vocab = 7]>, %i: !titan.tensor<i64[seq = 2]>, %v: !titan.tensor<f32[seq = 2]>)
    -> (!titan.tensor<f32[seq = 2, embed = 4]>, !titan.tensor<f32[]>) {
  %row = titan.gather %x along "vocab" at %i : (!titan.tensor<f32[embed = 4, vocab = 7]>, !titan.tensor<i64[seq = 2]>) -> !titan.tensor<f32[seq = 2, embed = 4]>
  %p = titan.scatter %v along "vocab" at %i : (!titan.tensor<f32[seq = 2]>, !titan.tensor<i64[seq = 2]>) -> !titan.tensor<f32[vocab = 7]>
  %k = titan.rename %p : !titan.tensor<f32[vocab = 7]> -> !titan.tensor<f32[keys = 7 of vocab]>
  %s = titan.reduce sum %k : !titan.tensor<f32[keys = 7 of vocab]> -> !titan.tensor<f32[]>
  return %row, %s : !titan.tensor<f32[seq = 2, embed = 4]>, !titan.tensor<f32[]>
}

// -----

// An operation with forbidden padding gets the unpadded dimension, and its result is padded again.
// Outputs are not padded.
// CHECK-LABEL: func.func @order(
// CHECK: %[[WHOLE:.*]] = titan.slice %arg0 dim "vocab" from 0 : <f32[vocab = 8]> -> <f32[vocab = 7]>
// CHECK-NEXT: %[[SUMS:.*]] = titan.cumulative_sum %[[WHOLE]]
// CHECK-NEXT: %[[PADDED:.*]] = titan.pad %[[SUMS]] dim "vocab" from 0 : <f32[vocab = 7]> -> <f32[vocab = 8]>
// CHECK-NEXT: %[[SQUARES:.*]] = titan.mul %[[PADDED]], %[[PADDED]]
// CHECK-NEXT: %[[OUT:.*]] = titan.slice %[[SQUARES]]
// CHECK-NEXT: return %[[OUT]] : !titan.tensor<f32[vocab = 7]>
dist.mesh @mesh [#dist.axis<tp = 2>]
dist.axis_rules "tp" shards ["vocab"] fallback [] stores [] pads ["vocab"]
func.func @order(%x: !titan.tensor<f32[vocab = 7]>) -> !titan.tensor<f32[vocab = 7]> {
  %y = titan.cumulative_sum %x along "vocab" : !titan.tensor<f32[vocab = 7]> -> !titan.tensor<f32[vocab = 7]>
  %z = titan.mul %y, %y : (!titan.tensor<f32[vocab = 7]>, !titan.tensor<f32[vocab = 7]>) -> !titan.tensor<f32[vocab = 7]>
  return %z : !titan.tensor<f32[vocab = 7]>
}

// -----

// Iteration arguments have zeros in the padding, so yielded values are masked. Slots of parameters
// have zeros already. A dimension that the degree divides is not padded.
// CHECK-LABEL: func.func @repeat(
// CHECK: titan.repeat
// CHECK: ^bb0({{.*}}: !titan.tensor<f32[ffn = 6]>, {{.*}}: !titan.tensor<f32[ffn = 6, embed = 4]>):
// CHECK: titan.exp
// CHECK: %[[ZEROED:.*]] = titan.select
// CHECK: titan.contract {{.*}} -> !titan.tensor<f32[embed = 4]>
// CHECK: titan.yield %[[ZEROED]]
// CHECK: titan.slice {{.*}} dim "ffn"
dist.mesh @mesh [#dist.axis<tp = 2>]
dist.axis_rules "tp" shards ["ffn", "embed"] fallback [] stores [] pads ["ffn", "embed"]
func.func @repeat(%x: !titan.tensor<f32[ffn = 5]>, %w: !titan.tensor<f32[layers = 3, ffn = 5, embed = 4]>)
    -> (!titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[layers = 3, embed = 4]>) {
  %y, %z = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[layers = 3, ffn = 5, embed = 4]>)
      -> (!titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[layers = 3, embed = 4]>) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[ffn = 5]>, %s: !titan.tensor<f32[ffn = 5, embed = 4]>):
    %e = titan.exp %c : <f32[ffn = 5]> -> <f32[ffn = 5]>
    %p = titan.contract %c, %s : (!titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[ffn = 5, embed = 4]>) -> !titan.tensor<f32[embed = 4]>
    titan.yield %e, %p : !titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[embed = 4]>
  }
  return %y, %z : !titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[layers = 3, embed = 4]>
}

// -----

// A sum of terms is masked once, after the repeat. A mask of each term would keep its reduction in the repeat. Terms
// whose padding is 0 need no mask.
// CHECK-LABEL: func.func @sums(
// CHECK: %[[SUMS:.*]]:2 = titan.repeat
// CHECK-NOT: titan.select
// CHECK: titan.yield
// CHECK: %[[ZEROED:.*]] = titan.select %{{.*}}, %[[SUMS]]#0,
// CHECK-NOT: titan.select
// CHECK: titan.reduce sum %[[ZEROED]]
// CHECK-NEXT: titan.contract %[[SUMS]]#1, %[[SUMS]]#1
dist.mesh @mesh [#dist.axis<tp = 2>]
dist.axis_rules "tp" shards ["ffn"] fallback [] stores [] pads ["ffn"]
func.func @sums(%x: !titan.tensor<f32[ffn = 5]>, %w: !titan.tensor<f32[layers = 3, ffn = 5]>) -> (!titan.tensor<f32[]>, !titan.tensor<f32[]>) {
  %y, %z = titan.repeat <layers = 3> iter_args(%x, %x) scanned(%w) : (!titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[layers = 3, ffn = 5]>)
      -> (!titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[ffn = 5]>) {
  ^bb0(%l: !titan.tensor<i64[]>, %a: !titan.tensor<f32[ffn = 5]>, %b: !titan.tensor<f32[ffn = 5]>, %s: !titan.tensor<f32[ffn = 5]>):
    %e = titan.exp %s : <f32[ffn = 5]> -> <f32[ffn = 5]>
    %c = titan.add %a, %e : (!titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[ffn = 5]>) -> !titan.tensor<f32[ffn = 5]>
    %d = titan.add %b, %s : (!titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[ffn = 5]>) -> !titan.tensor<f32[ffn = 5]>
    titan.yield %c, %d : !titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[ffn = 5]>
  }
  %p = titan.reduce sum %y : !titan.tensor<f32[ffn = 5]> -> !titan.tensor<f32[]>
  %q = titan.contract %z, %z : (!titan.tensor<f32[ffn = 5]>, !titan.tensor<f32[ffn = 5]>) -> !titan.tensor<f32[]>
  return %p, %q : !titan.tensor<f32[]>, !titan.tensor<f32[]>
}
