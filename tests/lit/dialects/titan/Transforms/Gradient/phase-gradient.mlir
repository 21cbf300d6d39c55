// RUN: titan-opt %s --titan-phase-gradient | FileCheck %s

// A language model of gated layers becomes a training step. The forward stacks only values that are
// not rematerialisable: the iteration argument %c, the row statistic %r, and the projections %u and %g.

!hidden = !titan.tensor<f32[batch = 4, seq = 8, embed = 16]>
!wide = !titan.tensor<f32[batch = 4, seq = 8, ffn = 32]>
!scores = !titan.tensor<f32[batch = 4, seq = 8, vocab = 32]>
!row = !titan.tensor<f32[batch = 4, seq = 8]>
!ids = !titan.tensor<i64[batch = 4, seq = 8]>
!table = !titan.tensor<f32[vocab = 32, embed = 16]>
!weight = !titan.tensor<f32[embed = 16, ffn = 32]>
!weights = !titan.tensor<f32[layers = 2, embed = 16, ffn = 32]>
!down_weight = !titan.tensor<f32[ffn = 32, embed = 16]>
!down_weights = !titan.tensor<f32[layers = 2, ffn = 32, embed = 16]>
!scalar = !titan.tensor<f32[]>

// CHECK-LABEL: func.func @train
// CHECK-SAME: titan.state = "m.table"
// CHECK-SAME: titan.state = "v.table"
// CHECK-SAME: {titan.stacked, titan.state = "m.layers.norm"}
// CHECK-SAME: titan.scalar = "lr"
// CHECK-SAME: titan.scalar = "step"
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "grad_norm"}
// CHECK-SAME: {titan.gradient = "table"}
// CHECK-SAME: {titan.gradient = "layers.norm", titan.stacked}
// CHECK-SAME: {titan.updates = 2 : i64}
func.func @train(
    %tokens: !ids {titan.input = "tokens"}, %labels: !ids {titan.input = "labels"},
    %table: !table {titan.param = "table", titan.updated_by = @adamw},
    %norm: !titan.tensor<f32[layers = 2, embed = 16]> {titan.param = "layers.norm", titan.updated_by = @adamw, titan.stacked},
    %up: !weights {titan.param = "layers.up", titan.updated_by = @adamw, titan.stacked},
    %gate: !weights {titan.param = "layers.gate", titan.updated_by = @adamw, titan.stacked},
    %down: !down_weights {titan.param = "layers.down", titan.updated_by = @adamw, titan.stacked})
    -> (!scalar {titan.output = "loss"})
    attributes {titan.program = "train",
                titan.clip = 1.0 : f64} {
  %0 = titan.gather %table along "vocab" at %tokens : (!table, !ids) -> !hidden
  %x = titan.sharding_constraint %0 : !hidden -> !hidden
  // CHECK: %[[FORWARD:.*]]:5 = titan.repeat <layers = 2> iter_args(
  // CHECK: ^bb0(%{{.*}}: !titan.tensor<i64[]>, %[[C:[^:]*]]:
  %y = titan.repeat <layers = 2> iter_args(%x) scanned(%up, %gate, %down, %norm)
      : (!hidden, !weights, !weights, !down_weights, !titan.tensor<f32[layers = 2, embed = 16]>) -> !hidden {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !hidden, %w1: !weight, %w3: !weight, %w2: !down_weight, %n: !titan.tensor<f32[embed = 16]>):
    %xx = titan.mul %c, %c : (!hidden, !hidden) -> !hidden
    %sum = titan.reduce sum %xx : !hidden -> !row
    %in = titan.constant 0.0625 : !scalar
    %mean = titan.mul %sum, %in : (!row, !scalar) -> !row
    // CHECK: %[[R:.*]] = titan.rsqrt
    %r = titan.rsqrt %mean : !row -> !row
    %xr = titan.mul %c, %r : (!hidden, !row) -> !hidden
    %h = titan.mul %xr, %n : (!hidden, !titan.tensor<f32[embed = 16]>) -> !hidden
    // CHECK: %[[U:.*]] = titan.sharding_constraint
    %1 = titan.contract %h, %w1 : (!hidden, !weight) -> !wide
    %u = titan.sharding_constraint %1 : !wide -> !wide
    // CHECK: %[[G:.*]] = titan.sharding_constraint
    %2 = titan.contract %h, %w3 : (!hidden, !weight) -> !wide
    %g = titan.sharding_constraint %2 : !wide -> !wide
    %sg = titan.sigmoid %g : !wide -> !wide
    %silu = titan.mul %sg, %g : (!wide, !wide) -> !wide
    %t = titan.mul %silu, %u : (!wide, !wide) -> !wide
    %d = titan.contract %t, %w2 : (!wide, !down_weight) -> !hidden
    %3 = titan.add %c, %d : (!hidden, !hidden) -> !hidden
    // CHECK: %[[NEXT:.*]] = titan.sharding_constraint
    %4 = titan.sharding_constraint %3 : !hidden -> !hidden
    // CHECK: titan.yield %[[NEXT]], %[[G]], %[[U]], %[[C]], %[[R]] :
    titan.yield %4 : !hidden
  }
  %logits = titan.contract %y, %table : (!hidden, !table) -> !scores
  // The maximum is subtracted from the logits and has no gradient.
  // CHECK-NOT: titan.stop_gradient
  // CHECK-NOT: titan.compare
  %max = titan.reduce max %logits : !scores -> !row
  %top = titan.stop_gradient %max : !row -> !row
  %sh = titan.sub %logits, %top : (!scores, !row) -> !scores
  %e = titan.exp %sh : !scores -> !scores
  %se = titan.reduce sum %e : !scores -> !row
  %ls = titan.log %se : !row -> !row
  %hit = titan.gather %sh along "vocab" at %labels : (!scores, !ids) -> !row
  %ce = titan.sub %ls, %hit : (!row, !row) -> !row
  %total = titan.reduce sum %ce : !row -> !scalar
  %share = titan.constant 0.03125 : !scalar
  %loss = titan.mul %total, %share : (!scalar, !scalar) -> !scalar
  // CHECK: titan.contract {{.*}} {titan.grad_kind = "dgrad"}
  // CHECK: %[[HEAD:.*]] = titan.contract {{.*}} {titan.grad_kind = "wgrad"}
  // CHECK: %[[DY:.*]] = titan.sharding_constraint
  // CHECK: %[[BACKWARD:.*]]:5 = titan.repeat <layers = 2> reverse iter_args(%[[DY]])
  // CHECK-SAME: %[[FORWARD]]#1, %[[FORWARD]]#2, %[[FORWARD]]#3, %[[FORWARD]]#4)
  // CHECK: titan.yield
  // CHECK: titan.sharding_constraint %[[BACKWARD]]#0
  // The table has two uses; its gradient is the sum.
  // CHECK: %[[LOOKUP:.*]] = titan.scatter
  // CHECK: %[[DTABLE:.*]] = titan.add %[[HEAD]], %[[LOOKUP]]
  // CHECK: titan.apply @adamw.update(%{{.*}}, %[[DTABLE]],
  // CHECK-COUNT-4: titan.apply @adamw.update(
  // CHECK: return
  return %loss : !scalar
}

// AdamW as a function of scalars, which applies to parameters of any dimensions.
func.func private @adamw(%p: !titan.tensor<f32[]> {titan.operand = "parameter"}, %g: !titan.tensor<f32[]> {titan.operand = "gradient"},
    %lr: !titan.tensor<f32[]> {titan.scalar = "lr"}, %step: !titan.tensor<f32[]> {titan.scalar = "step"},
    %m: !titan.tensor<f32[]> {titan.state = "m"}, %v: !titan.tensor<f32[]> {titan.state = "v"})
    -> (!titan.tensor<f32[]> {titan.updates = 0 : i64}, !titan.tensor<f32[]> {titan.updates = 4 : i64}, !titan.tensor<f32[]> {titan.updates = 5 : i64})
    attributes {titan.optimizer} {
  %one = titan.constant 1.0 : !titan.tensor<f32[]>
  %beta1 = titan.constant 0.9 : !titan.tensor<f32[]>
  %new1 = titan.constant 0.1 : !titan.tensor<f32[]>
  %beta2 = titan.constant 0.95 : !titan.tensor<f32[]>
  %new2 = titan.constant 0.05 : !titan.tensor<f32[]>
  %eps = titan.constant 1.0e-8 : !titan.tensor<f32[]>
  %old_m = titan.mul %beta1, %m : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %add_m = titan.mul %new1, %g : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %m1 = titan.add %old_m, %add_m : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %square = titan.mul %g, %g : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %old_v = titan.mul %beta2, %v : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %add_v = titan.mul %new2, %square : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %v1 = titan.add %old_v, %add_v : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %power1 = titan.pow %beta1, %step : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %c1 = titan.sub %one, %power1 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %power2 = titan.pow %beta2, %step : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %c2 = titan.sub %one, %power2 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %variance = titan.div %v1, %c2 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %deviation = titan.sqrt %variance : !titan.tensor<f32[]> -> !titan.tensor<f32[]>
  %size = titan.add %deviation, %eps : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %rate = titan.div %lr, %c1 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %scaled = titan.mul %rate, %m1 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %move = titan.div %scaled, %size : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %p1 = titan.sub %p, %move : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  return %p1, %m1, %v1 : !titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>
}
