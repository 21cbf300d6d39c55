// RUN: titan-opt %s --titan-differentiate --titan-add-optimizer | FileCheck %s

!w = !titan.tensor<f32[in = 4, out = 2]>
!wn = !titan.tensor<bf16[in = 4, out = 2]>
!b = !titan.tensor<f32[out = 2]>
!bn = !titan.tensor<bf16[out = 2]>
!x = !titan.tensor<bf16[seq = 8, in = 4]>
!y = !titan.tensor<bf16[seq = 8, out = 2]>
!f = !titan.tensor<f32[seq = 8, out = 2]>
!s = !titan.tensor<f32[]>

// Contractions and sums compute gradients of parameters in the type `reduce`. Cotangents of activations
// have the types of their values; optimizer states have the type `optimizer`.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[M:[^:]*]]: !titan.tensor<bf16[in = 4, out = 2]> {titan.state = "m.w"}
// CHECK-SAME: -> ({{.*}}, !titan.tensor<f64[in = 4, out = 2]> {titan.gradient = "w"}, !titan.tensor<f64[out = 2]> {titan.gradient = "b"}
// CHECK: %[[DY:.*]] = titan.cast %{{.*}} : <f32[seq = 8, out = 2]> -> <bf16[seq = 8, out = 2]>
// CHECK-DAG: titan.reduce sum %[[DY]] : <bf16[seq = 8, out = 2]> -> <f64[out = 2]>
// CHECK-DAG: titan.contract %{{.*}}, %[[DY]] {titan.grad_kind = "wgrad"} : (!titan.tensor<bf16[seq = 8, in = 4]>, !titan.tensor<bf16[seq = 8, out = 2]>) -> !titan.tensor<f64[in = 4, out = 2]>
// CHECK: titan.apply @descent.update{{[_0-9]*}}(%{{.*}} -> (!titan.tensor<f32[in = 4, out = 2]>, !titan.tensor<bf16[in = 4, out = 2]>)
func.func @train(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w", titan.updated_by = @descent}, %b: !b {titan.param = "b", titan.updated_by = @descent})
    -> (!s {titan.output = "loss"})
    attributes {titan.program = "train",
                titan.precision = #titan.precision<compute = bf16, reduce = f64, activations_reduce = bf16, optimizer = bf16>} {
  %wn = titan.cast %w : !w -> !wn
  %bn = titan.cast %b : !b -> !bn
  %0 = titan.contract %x, %wn : (!x, !wn) -> !y
  %1 = titan.add %0, %bn : (!y, !bn) -> !y
  %2 = titan.cast %1 : !y -> !f
  %3 = titan.exp %2 : !f -> !f
  %loss = titan.reduce sum %3 : !f -> !s
  return %loss : !s
}

!x1 = !titan.tensor<bf16[seq = 8]>
!t1 = !titan.tensor<bf16[to = 8]>
!f1 = !titan.tensor<f32[to = 8]>
!ws = !titan.tensor<bf16[layers = 3, seq = 8, to = 8]>
!wl = !titan.tensor<bf16[seq = 8, to = 8]>

// The operand of a widening conversion is stacked, and widened again.
// CHECK-LABEL: func.func @keeps_what_is_narrow
// CHECK: titan.repeat <layers = 3> iter_args(%{{.*}}) scanned(%{{.*}}) : {{.*}} -> (!titan.tensor<bf16[seq = 8]>, !titan.tensor<bf16[layers = 3, to = 8]>, !titan.tensor<bf16[layers = 3, seq = 8]>)
// CHECK: %[[NARROW:.*]] = titan.contract
// CHECK: titan.cast %[[NARROW]] : <bf16[to = 8]> -> <f32[to = 8]>
// CHECK: titan.yield %{{.*}}, %[[NARROW]], %{{.*}} :
// CHECK: titan.repeat <layers = 3> reverse
// CHECK: ^bb0({{.*}}, %[[KEPT:[^:]*]]: !titan.tensor<bf16[to = 8]>, %{{[^:]*}}: !titan.tensor<bf16[seq = 8]>):
// CHECK: titan.cast %[[KEPT]] : <bf16[to = 8]> -> <f32[to = 8]>
func.func @keeps_what_is_narrow(%x: !x1 {titan.input = "x"}, %w: !ws {titan.param = "w", titan.updated_by = @descent})
    -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!x1, !ws) -> !x1 {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x1, %wl: !wl):
    %0 = titan.contract %c, %wl : (!x1, !wl) -> !t1
    %1 = titan.cast %0 : !t1 -> !f1
    %2 = titan.sin %1 : !f1 -> !f1
    %3 = titan.cast %2 : !f1 -> !t1
    %4 = titan.rename %3 : !t1 -> !x1
    titan.yield %4 : !x1
  }
  %wide = titan.cast %y : !x1 -> !titan.tensor<f32[seq = 8]>
  %loss = titan.reduce sum %wide : !titan.tensor<f32[seq = 8]> -> !s
  return %loss : !s
}

!e = !titan.tensor<f32[embed = 4]>
!en = !titan.tensor<bf16[embed = 4]>
!h = !titan.tensor<f32[seq = 8, embed = 4]>

// A sum in f32 that becomes a gradient in bf16 may be rounded on each rank, since bf16 is the
// declared type of gradient sums. Other narrowing conversions may not.
// CHECK-LABEL: func.func @narrow_sums
// CHECK: %[[SUM:.*]] = titan.reduce sum %{{.*}} : <f32[seq = 8, embed = 4]> -> <f32[embed = 4]>
// CHECK: titan.cast round_before_reduce %[[SUM]] : <f32[embed = 4]> -> <bf16[embed = 4]>
// CHECK-NOT: round_before_reduce
func.func @narrow_sums(%x: !h {titan.input = "x"}, %w: !e {titan.param = "w", titan.updated_by = @descent}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train",
                titan.precision = #titan.precision<compute = bf16, reduce = bf16, activations_reduce = bf16, optimizer = f32>} {
  %0 = titan.mul %x, %w : (!h, !e) -> !h
  %1 = titan.exp %0 : !h -> !h
  %loss = titan.reduce sum %1 : !h -> !s
  return %loss : !s
}

!rows = !titan.tensor<bf16[seq = 8, slot = 2, in = 4]>
!table = !titan.tensor<bf16[experts = 5, in = 4, out = 2]>
!chosen = !titan.tensor<i64[seq = 8, slot = 2]>
!routed = !titan.tensor<bf16[seq = 8, out = 2]>

// The rows of a grouped contraction are summed in f32 and rounded. Their cotangent is read in bf16, without a row for every
// choice, so the products are those of bf16.
// CHECK-LABEL: func.func @grouped
// CHECK: %[[DY:.*]] = titan.cast %{{.*}} -> <bf16[seq = 8, out = 2]>
// CHECK: titan.grouped_contract %[[DY]], %{{.*}} {titan.grad_kind = "dgrad"} : (!titan.tensor<bf16[seq = 8, out = 2]>, !titan.tensor<bf16[experts = 5, in = 4, out = 2]>, {{.*}} -> !titan.tensor<bf16[seq = 8, slot = 2, in = 4]>
// CHECK: titan.grouped_contract %{{.*}}, %[[DY]] {{.*}} {titan.grad_kind = "wgrad"} : (!titan.tensor<bf16[seq = 8, slot = 2, in = 4]>, !titan.tensor<bf16[seq = 8, out = 2]>, {{.*}} -> !titan.tensor<f32[experts = 5, in = 4, out = 2]>
func.func @grouped(%x: !rows {titan.param = "x", titan.updated_by = @descent}, %w: !table {titan.param = "w", titan.updated_by = @descent}, %i: !chosen {titan.input = "i"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  %r = titan.tanh %x : !rows -> !rows
  %0 = titan.grouped_contract %r, %w along "experts" at %i : (!rows, !table, !chosen) -> !titan.tensor<f32[seq = 8, slot = 2, out = 2]>
  %1 = titan.reduce sum %0 : !titan.tensor<f32[seq = 8, slot = 2, out = 2]> -> !titan.tensor<f32[seq = 8, out = 2]>
  %2 = titan.cast round_before_reduce %1 : !titan.tensor<f32[seq = 8, out = 2]> -> !routed
  %3 = titan.cast %2 : !routed -> !titan.tensor<f32[seq = 8, out = 2]>
  %4 = titan.exp %3 : !titan.tensor<f32[seq = 8, out = 2]> -> !titan.tensor<f32[seq = 8, out = 2]>
  %loss = titan.reduce sum %4 : !titan.tensor<f32[seq = 8, out = 2]> -> !s
  return %loss : !s
}

// SGD in f64, the widest type of the gradients, with a state.
func.func private @descent(%p: !titan.tensor<f64[]> {titan.operand = "parameter"}, %g: !titan.tensor<f64[]> {titan.operand = "gradient"},
                           %m: !titan.tensor<f64[]> {titan.state = "m"})
    -> (!titan.tensor<f64[]> {titan.updates = 0 : i64}, !titan.tensor<f64[]> {titan.updates = 2 : i64}) attributes {titan.optimizer} {
  %m1 = titan.add %m, %g : (!titan.tensor<f64[]>, !titan.tensor<f64[]>) -> !titan.tensor<f64[]>
  %p1 = titan.sub %p, %m1 : (!titan.tensor<f64[]>, !titan.tensor<f64[]>) -> !titan.tensor<f64[]>
  return %p1, %m1 : !titan.tensor<f64[]>, !titan.tensor<f64[]>
}

!x2 = !titan.tensor<bf16[seq = 8, in = 64]>
!f2 = !titan.tensor<f32[seq = 8, in = 64]>
!r2 = !titan.tensor<f32[seq = 8]>
!w2 = !titan.tensor<bf16[layers = 3, in = 64, to = 64]>
!wl2 = !titan.tensor<bf16[in = 64, to = 64]>
!y2 = !titan.tensor<bf16[seq = 8, to = 64]>

// A centred value is not stacked: its narrow operand and a number per row take less. The square is wider than both.
// CHECK-LABEL: func.func @keeps_the_smallest
// CHECK: titan.repeat <layers = 3> iter_args(%{{.*}}) scanned(%{{.*}}) : {{.*}} -> (!titan.tensor<bf16[seq = 8, in = 64]>, !titan.tensor<bf16[layers = 3, seq = 8, in = 64]>, !titan.tensor<f32[layers = 3, seq = 8]>)
// CHECK: titan.repeat <layers = 3> reverse
// CHECK: titan.cast
// CHECK: titan.sub
func.func @keeps_the_smallest(%x: !x2 {titan.input = "x"}, %w: !w2 {titan.param = "w2", titan.updated_by = @descent})
    -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!x2, !w2) -> !x2 {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x2, %wl: !wl2):
    %wide = titan.cast %c : !x2 -> !f2
    %mean = titan.reduce sum %wide : !f2 -> !r2
    %centred = titan.sub %wide, %mean : (!f2, !r2) -> !f2
    %square = titan.mul %centred, %centred : (!f2, !f2) -> !f2
    %h = titan.cast %square : !f2 -> !x2
    %0 = titan.contract %h, %wl : (!x2, !wl2) -> !y2
    %1 = titan.rename %0 : !y2 -> !x2
    titan.yield %1 : !x2
  }
  %wide = titan.cast %y : !x2 -> !f2
  %loss = titan.reduce sum %wide : !f2 -> !s
  return %loss : !s
}
