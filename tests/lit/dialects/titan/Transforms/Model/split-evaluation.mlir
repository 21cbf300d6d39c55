// RUN: titan-opt %s --split-input-file --titan-split-evaluation | FileCheck %s

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>
!n = !titan.tensor<i64[]>
!b = !titan.tensor<i1[]>

// A quotient of sums is computed once, from the averages of both sums. Outputs with an argument in common share it.
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

// Sums, differences and constant factors commute with an average, so these outputs stay; so do the outputs of other programs.
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

// The function computes in f64: constants, conditions and conversions, also of integers. An output that each batch returns
// is an argument under its name.
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

// -----

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>
!b = !titan.tensor<i1[]>

// A value with many users is analysed once, also a value that conditions share: an analysis of each path would take years.
// CHECK-LABEL: titan.scalar_function @evaluation.metric.last
// CHECK-SAME: titan.batch_values = ["batch.0"]
func.func @eval(%x: !x {titan.input = "x"}) -> (!s {titan.output = "metric.last"}) attributes {titan.program = "eval"} {
  %v0 = titan.reduce sum %x : !x -> !s
  %v1 = titan.add %v0, %v0 : (!s, !s) -> !s
  %v2 = titan.add %v1, %v1 : (!s, !s) -> !s
  %v3 = titan.add %v2, %v2 : (!s, !s) -> !s
  %v4 = titan.add %v3, %v3 : (!s, !s) -> !s
  %v5 = titan.add %v4, %v4 : (!s, !s) -> !s
  %v6 = titan.add %v5, %v5 : (!s, !s) -> !s
  %v7 = titan.add %v6, %v6 : (!s, !s) -> !s
  %v8 = titan.add %v7, %v7 : (!s, !s) -> !s
  %v9 = titan.add %v8, %v8 : (!s, !s) -> !s
  %v10 = titan.add %v9, %v9 : (!s, !s) -> !s
  %v11 = titan.add %v10, %v10 : (!s, !s) -> !s
  %v12 = titan.add %v11, %v11 : (!s, !s) -> !s
  %v13 = titan.add %v12, %v12 : (!s, !s) -> !s
  %v14 = titan.add %v13, %v13 : (!s, !s) -> !s
  %v15 = titan.add %v14, %v14 : (!s, !s) -> !s
  %v16 = titan.add %v15, %v15 : (!s, !s) -> !s
  %v17 = titan.add %v16, %v16 : (!s, !s) -> !s
  %v18 = titan.add %v17, %v17 : (!s, !s) -> !s
  %v19 = titan.add %v18, %v18 : (!s, !s) -> !s
  %v20 = titan.add %v19, %v19 : (!s, !s) -> !s
  %v21 = titan.add %v20, %v20 : (!s, !s) -> !s
  %v22 = titan.add %v21, %v21 : (!s, !s) -> !s
  %v23 = titan.add %v22, %v22 : (!s, !s) -> !s
  %v24 = titan.add %v23, %v23 : (!s, !s) -> !s
  %v25 = titan.add %v24, %v24 : (!s, !s) -> !s
  %v26 = titan.add %v25, %v25 : (!s, !s) -> !s
  %v27 = titan.add %v26, %v26 : (!s, !s) -> !s
  %v28 = titan.add %v27, %v27 : (!s, !s) -> !s
  %v29 = titan.add %v28, %v28 : (!s, !s) -> !s
  %v30 = titan.add %v29, %v29 : (!s, !s) -> !s
  %v31 = titan.add %v30, %v30 : (!s, !s) -> !s
  %v32 = titan.add %v31, %v31 : (!s, !s) -> !s
  %v33 = titan.add %v32, %v32 : (!s, !s) -> !s
  %v34 = titan.add %v33, %v33 : (!s, !s) -> !s
  %v35 = titan.add %v34, %v34 : (!s, !s) -> !s
  %v36 = titan.add %v35, %v35 : (!s, !s) -> !s
  %v37 = titan.add %v36, %v36 : (!s, !s) -> !s
  %v38 = titan.add %v37, %v37 : (!s, !s) -> !s
  %v39 = titan.add %v38, %v38 : (!s, !s) -> !s
  %v40 = titan.add %v39, %v39 : (!s, !s) -> !s
  %v41 = titan.add %v40, %v40 : (!s, !s) -> !s
  %v42 = titan.add %v41, %v41 : (!s, !s) -> !s
  %v43 = titan.add %v42, %v42 : (!s, !s) -> !s
  %v44 = titan.add %v43, %v43 : (!s, !s) -> !s
  %v45 = titan.add %v44, %v44 : (!s, !s) -> !s
  %v46 = titan.add %v45, %v45 : (!s, !s) -> !s
  %v47 = titan.add %v46, %v46 : (!s, !s) -> !s
  %v48 = titan.add %v47, %v47 : (!s, !s) -> !s
  %b0 = titan.compare gt, %v48, %v0 : (!s, !s) -> !b
  %b1 = titan.select %b0, %b0, %b0 : (!b, !b, !b) -> !b
  %b2 = titan.select %b1, %b1, %b1 : (!b, !b, !b) -> !b
  %b3 = titan.select %b2, %b2, %b2 : (!b, !b, !b) -> !b
  %b4 = titan.select %b3, %b3, %b3 : (!b, !b, !b) -> !b
  %b5 = titan.select %b4, %b4, %b4 : (!b, !b, !b) -> !b
  %b6 = titan.select %b5, %b5, %b5 : (!b, !b, !b) -> !b
  %b7 = titan.select %b6, %b6, %b6 : (!b, !b, !b) -> !b
  %b8 = titan.select %b7, %b7, %b7 : (!b, !b, !b) -> !b
  %b9 = titan.select %b8, %b8, %b8 : (!b, !b, !b) -> !b
  %b10 = titan.select %b9, %b9, %b9 : (!b, !b, !b) -> !b
  %b11 = titan.select %b10, %b10, %b10 : (!b, !b, !b) -> !b
  %b12 = titan.select %b11, %b11, %b11 : (!b, !b, !b) -> !b
  %b13 = titan.select %b12, %b12, %b12 : (!b, !b, !b) -> !b
  %b14 = titan.select %b13, %b13, %b13 : (!b, !b, !b) -> !b
  %b15 = titan.select %b14, %b14, %b14 : (!b, !b, !b) -> !b
  %b16 = titan.select %b15, %b15, %b15 : (!b, !b, !b) -> !b
  %b17 = titan.select %b16, %b16, %b16 : (!b, !b, !b) -> !b
  %b18 = titan.select %b17, %b17, %b17 : (!b, !b, !b) -> !b
  %b19 = titan.select %b18, %b18, %b18 : (!b, !b, !b) -> !b
  %b20 = titan.select %b19, %b19, %b19 : (!b, !b, !b) -> !b
  %b21 = titan.select %b20, %b20, %b20 : (!b, !b, !b) -> !b
  %b22 = titan.select %b21, %b21, %b21 : (!b, !b, !b) -> !b
  %b23 = titan.select %b22, %b22, %b22 : (!b, !b, !b) -> !b
  %b24 = titan.select %b23, %b23, %b23 : (!b, !b, !b) -> !b
  %b25 = titan.select %b24, %b24, %b24 : (!b, !b, !b) -> !b
  %b26 = titan.select %b25, %b25, %b25 : (!b, !b, !b) -> !b
  %b27 = titan.select %b26, %b26, %b26 : (!b, !b, !b) -> !b
  %b28 = titan.select %b27, %b27, %b27 : (!b, !b, !b) -> !b
  %b29 = titan.select %b28, %b28, %b28 : (!b, !b, !b) -> !b
  %b30 = titan.select %b29, %b29, %b29 : (!b, !b, !b) -> !b
  %b31 = titan.select %b30, %b30, %b30 : (!b, !b, !b) -> !b
  %b32 = titan.select %b31, %b31, %b31 : (!b, !b, !b) -> !b
  %b33 = titan.select %b32, %b32, %b32 : (!b, !b, !b) -> !b
  %b34 = titan.select %b33, %b33, %b33 : (!b, !b, !b) -> !b
  %b35 = titan.select %b34, %b34, %b34 : (!b, !b, !b) -> !b
  %b36 = titan.select %b35, %b35, %b35 : (!b, !b, !b) -> !b
  %b37 = titan.select %b36, %b36, %b36 : (!b, !b, !b) -> !b
  %b38 = titan.select %b37, %b37, %b37 : (!b, !b, !b) -> !b
  %b39 = titan.select %b38, %b38, %b38 : (!b, !b, !b) -> !b
  %b40 = titan.select %b39, %b39, %b39 : (!b, !b, !b) -> !b
  %b41 = titan.select %b40, %b40, %b40 : (!b, !b, !b) -> !b
  %b42 = titan.select %b41, %b41, %b41 : (!b, !b, !b) -> !b
  %b43 = titan.select %b42, %b42, %b42 : (!b, !b, !b) -> !b
  %b44 = titan.select %b43, %b43, %b43 : (!b, !b, !b) -> !b
  %b45 = titan.select %b44, %b44, %b44 : (!b, !b, !b) -> !b
  %b46 = titan.select %b45, %b45, %b45 : (!b, !b, !b) -> !b
  %b47 = titan.select %b46, %b46, %b46 : (!b, !b, !b) -> !b
  %b48 = titan.select %b47, %b47, %b47 : (!b, !b, !b) -> !b
  %last = titan.select %b48, %v48, %v0 : (!b, !s, !s) -> !s
  return %last : !s
}
