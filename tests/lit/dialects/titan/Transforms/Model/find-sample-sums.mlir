// RUN: titan-opt %s --split-input-file --titan-find-sample-sums | FileCheck %s

!x = !titan.tensor<f32[batch = 4, seq = 2]>
!w = !titan.tensor<f32[seq = 2]>
!s = !titan.tensor<f32[]>

// A constant plus a weighted sum of a function of each sample, and a value without samples.
// CHECK: module attributes {
// CHECK-SAME: titan.sums_over_samples
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
  func.func @eval(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"})
      -> (!s {titan.output = "loss"}, !s {titan.output = "metric.size"}) attributes {titan.program = "eval"} {
    %wide = titan.expand %w : !w -> !x
    %y = titan.mul %x, %wide : (!x, !x) -> !x
    %z = titan.exp %y : !x -> !x
    %sum = titan.reduce sum %z : !x -> !s
    %quarter = titan.constant 0.25 : !s
    %mean = titan.mul %sum, %quarter : (!s, !s) -> !s
    %size = titan.reduce max %w : !w -> !s
    %loss = titan.add %mean, %size : (!s, !s) -> !s
    return %loss, %size : !s, !s
  }
}

// -----

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>

// A maximum over samples is no sum of them.
// CHECK: module attributes {
// CHECK-NOT: titan.sums_over_samples
// CHECK: func.func @eval
module attributes {titan.data_dims = #titan.data_dims<samples = "batch">} {
  func.func @eval(%x: !x {titan.input = "x"}) -> (!s {titan.output = "loss"}, !s {titan.output = "metric.top"})
      attributes {titan.program = "eval"} {
    %loss = titan.reduce sum %x : !x -> !s
    %top = titan.reduce max %x : !x -> !s
    return %loss, %top : !s, !s
  }
}

// -----

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>

// The product of two sums is not linear in the samples.
// CHECK: module attributes {
// CHECK-NOT: titan.sums_over_samples
// CHECK: func.func @eval
module attributes {titan.data_dims = #titan.data_dims<samples = "batch">} {
  func.func @eval(%x: !x {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "eval"} {
    %sum = titan.reduce sum %x : !x -> !s
    %loss = titan.mul %sum, %sum : (!s, !s) -> !s
    return %loss : !s
  }
}

// -----

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>

// The distance of each sample from the mean: a sample's term depends on all samples.
// CHECK: module attributes {
// CHECK-NOT: titan.sums_over_samples
// CHECK: func.func @eval
module attributes {titan.data_dims = #titan.data_dims<samples = "batch">} {
  func.func @eval(%x: !x {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "eval"} {
    %sum = titan.reduce sum %x : !x -> !s
    %wide = titan.expand %sum : !s -> !x
    %far = titan.sub %x, %wide : (!x, !x) -> !x
    %square = titan.mul %far, %far : (!x, !x) -> !x
    %loss = titan.reduce sum %square : !x -> !s
    return %loss : !s
  }
}

// -----

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>

// A weight by the index of the sample in its batch.
// CHECK: module attributes {
// CHECK-NOT: titan.sums_over_samples
// CHECK: func.func @eval
module attributes {titan.data_dims = #titan.data_dims<samples = "batch">} {
  func.func @eval(%x: !x {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "eval"} {
    %i = titan.iota : !titan.tensor<i64[batch = 4]>
    %f = titan.cast %i : !titan.tensor<i64[batch = 4]> -> !x
    %y = titan.mul %x, %f : (!x, !x) -> !x
    %loss = titan.reduce sum %y : !x -> !s
    return %loss : !s
  }
}

// -----

!x = !titan.tensor<f32[batch = 4, embed = 2]>
!w = !titan.tensor<f32[layers = 3, embed = 2]>
!v = !titan.tensor<f32[embed = 2]>
!s = !titan.tensor<f32[]>

// Layers carry the samples and a sum over them.
// CHECK: module attributes {
// CHECK-SAME: titan.sums_over_samples
module attributes {titan.data_dims = #titan.data_dims<samples = "batch">} {
  func.func @eval(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w"})
      -> (!s {titan.output = "loss"}) attributes {titan.program = "eval"} {
    %zero = titan.constant 0.0 : !s
    %last, %sum = titan.repeat <layers = 3> iter_args(%x, %zero) scanned(%w) : (!x, !s, !w) -> (!x, !s) {
    ^bb0(%i: !titan.tensor<i64[]>, %h: !x, %total: !s, %scale: !v):
      %wide = titan.expand %scale : !v -> !x
      %next = titan.mul %h, %wide : (!x, !x) -> !x
      %one = titan.reduce sum %next : !x -> !s
      %more = titan.add %total, %one : (!s, !s) -> !s
      titan.yield %next, %more : !x, !s
    }
    %loss = titan.reduce sum %last : !x -> !s
    %both = titan.add %loss, %sum : (!s, !s) -> !s
    return %both : !s
  }
}

// -----

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>

// Layers that square a sum over samples.
// CHECK: module attributes {
// CHECK-NOT: titan.sums_over_samples
// CHECK: func.func @eval
module attributes {titan.data_dims = #titan.data_dims<samples = "batch">} {
  func.func @eval(%x: !x {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "eval"} {
    %sum = titan.reduce sum %x : !x -> !s
    %loss = titan.repeat <layers = 3> iter_args(%sum) scanned() : (!s) -> !s {
    ^bb0(%i: !titan.tensor<i64[]>, %h: !s):
      %next = titan.mul %h, %h : (!s, !s) -> !s
      titan.yield %next : !s
    }
    return %loss : !s
  }
}

// -----

!x = !titan.tensor<f32[batch = 4]>
!s = !titan.tensor<f32[]>

// A loss that reads no input, although a value has the dimension of samples.
// CHECK: module attributes {
// CHECK-NOT: titan.sums_over_samples
// CHECK: func.func @eval
module attributes {titan.data_dims = #titan.data_dims<samples = "batch">} {
  func.func @eval(%w: !s {titan.param = "w"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "eval"} {
    %wide = titan.expand %w : !s -> !x
    %double = titan.add %wide, %wide : (!x, !x) -> !x
    %loss = titan.reduce sum %double : !x -> !s
    return %loss : !s
  }
}

// -----

!x = !titan.tensor<f32[batch = 4]>
!y = !titan.tensor<f32[batch = 2]>
!s = !titan.tensor<f32[]>

// The first samples alone: a term depends on the index of its sample.
// CHECK: module attributes {
// CHECK-NOT: titan.sums_over_samples
// CHECK: func.func @eval
module attributes {titan.data_dims = #titan.data_dims<samples = "batch">} {
  func.func @eval(%x: !x {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "eval"} {
    %first = titan.slice %x dim "batch" from 0 : !x -> !y
    %loss = titan.reduce sum %first : !y -> !s
    return %loss : !s
  }
}
