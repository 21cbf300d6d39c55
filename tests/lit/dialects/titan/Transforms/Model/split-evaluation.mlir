// RUN: titan-opt %s --split-input-file --titan-split-evaluation | FileCheck %s

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>
!n = !titan.tensor<i64[]>
!b = !titan.tensor<i1[]>

// A quotient of sums is computed once, from the averages of both. Outputs with one argument in common share it.
// CHECK-LABEL: titan.scalar_function @evaluation.loss
// CHECK-SAME: {titan.batch_values = ["batch.0", "batch.1"], titan.evaluates = "loss"}
// CHECK: ^bb0(%[[SUM:.*]]: !titan.tensor<f64[]>, %[[COUNT:.*]]: !titan.tensor<f64[]>):
// CHECK-NEXT: %[[MEAN:.*]] = titan.div %[[SUM]], %[[COUNT]] : (!titan.tensor<f64[]>, !titan.tensor<f64[]>) -> !titan.tensor<f64[]>
// CHECK-NEXT: titan.yield %[[MEAN]]
// CHECK: titan.scalar_function @evaluation.metric.density
// CHECK-SAME: {titan.batch_values = ["batch.2", "batch.1"], titan.evaluates = "metric.density"}
// CHECK-LABEL: func.func @eval
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "batch.0"}, !titan.tensor<f32[]> {titan.output = "batch.1"}, !titan.tensor<f32[]> {titan.output = "batch.2"})
// CHECK: %[[A:.*]] = titan.reduce sum
// CHECK: %[[B:.*]] = titan.reduce sum
// CHECK: %[[C:.*]] = titan.reduce max
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @eval(%x: !x {titan.input = "x"}, %w: !x {titan.input = "w"})
    -> (!s {titan.output = "loss"}, !s {titan.output = "metric.density"}) attributes {titan.program = "eval"} {
  %sum = titan.reduce sum %x : !x -> !s
  %count = titan.reduce sum %w : !x -> !s
  %top = titan.reduce max %x : !x -> !s
  %mean = titan.div %sum, %count : (!s, !s) -> !s
  %density = titan.div %top, %count : (!s, !s) -> !s
  return %mean, %density : !s, !s
}

// -----

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>

// Sums, differences and constant factors commute with an average: these outputs stay. So do those of other programs.
// CHECK-LABEL: func.func @eval
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "loss.a"})
// CHECK-LABEL: func.func @train
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "loss"})
// CHECK-NOT: titan.scalar_function
func.func @eval(%x: !x {titan.input = "x"}) -> (!s {titan.output = "loss"}, !s {titan.output = "loss.a"})
    attributes {titan.program = "eval"} {
  %sum = titan.reduce sum %x : !x -> !s
  %quarter = titan.constant 0.25 : !s
  %mean = titan.mul %sum, %quarter : (!s, !s) -> !s
  %half = titan.div %mean, %quarter : (!s, !s) -> !s
  %loss = titan.sub %half, %mean : (!s, !s) -> !s
  return %loss, %mean : !s, !s
}
func.func @train(%x: !x {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %sum = titan.reduce sum %x : !x -> !s
  %root = titan.sqrt %sum : !s -> !s
  return %root : !s
}

// -----

!x = !titan.tensor<f32[batch = 4]>
!i = !titan.tensor<i64[batch = 4]>
!s = !titan.tensor<f32[]>
!d = !titan.tensor<f64[]>
!n = !titan.tensor<i64[]>
!b = !titan.tensor<i1[]>

// The function computes in f64: constants, conditions and conversions, also of integers. What stays an output of each
// batch is an argument by its name.
// CHECK-LABEL: titan.scalar_function @evaluation.metric.rate
// CHECK-SAME: titan.batch_values = ["batch.0", "loss"]
// CHECK: ^bb0(%[[COUNT:.*]]: !titan.tensor<f64[]>, %[[LOSS:.*]]: !titan.tensor<f64[]>):
// CHECK: %[[ZERO:.*]] = titan.constant 0.0{{.*}} : <f64[]>
// CHECK: %[[NONE:.*]] = titan.compare eq, %[[COUNT]], %[[ZERO]] : (!titan.tensor<f64[]>, !titan.tensor<f64[]>) -> !titan.tensor<i1[]>
// CHECK: %[[RATE:.*]] = titan.div %[[LOSS]], %[[COUNT]] : (!titan.tensor<f64[]>, !titan.tensor<f64[]>) -> !titan.tensor<f64[]>
// CHECK: titan.select %[[NONE]], %{{.*}}, %[[RATE]]
// CHECK-LABEL: func.func @eval
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "loss"}, !titan.tensor<i64[]> {titan.output = "batch.0"})
func.func @eval(%x: !x {titan.input = "x"}, %i: !i {titan.input = "i"})
    -> (!s {titan.output = "metric.rate"}, !s {titan.output = "loss"}) attributes {titan.program = "eval"} {
  %count = titan.reduce sum %i : !i -> !n
  %sum = titan.reduce sum %x : !x -> !s
  %zero = titan.constant 0 : !n
  %none = titan.compare eq, %count, %zero : (!n, !n) -> !b
  %float = titan.cast %count : !n -> !s
  %fixed = titan.stop_gradient %sum : !s -> !s
  %rate = titan.div %fixed, %float : (!s, !s) -> !s
  %nothing = titan.constant 0.0 : !s
  %safe = titan.select %none, %nothing, %rate : (!b, !s, !s) -> !s
  return %safe, %sum : !s, !s
}
