// RUN: titan-opt --titan-fuse-rows %s | FileCheck %s

!row = !titan.tensor<f32[batch = 4, seq = 32]>
!hidden = !titan.tensor<f32[batch = 4, seq = 32, embed = 128]>
!wide = !titan.tensor<f32[batch = 4, seq = 32, ffn = 256]>
!column = !titan.tensor<f32[embed = 128]>
!weight = !titan.tensor<f32[embed = 128, ffn = 256]>

// A norm is one region over its rows: the reduction, the scalars of the row, the scaling. The
// constant has no memory and stays outside.
// CHECK-LABEL: func.func @norm
func.func @norm(%x: !hidden, %w: !column) -> !hidden {
  // CHECK: %[[EPS:.*]] = titan.constant
  // CHECK: %[[Y:.*]] = titan.fused rows ["batch", "seq"] : !titan.tensor<f32[batch = 4, seq = 32, embed = 128]> {
  // CHECK-NEXT: titan.mul
  // CHECK-NEXT: titan.reduce sum
  // CHECK-NEXT: titan.add %{{.*}}, %[[EPS]]
  // CHECK-NEXT: titan.rsqrt
  // CHECK-NEXT: titan.mul
  // CHECK-NEXT: titan.mul
  // CHECK-NEXT: titan.yield
  %0 = titan.mul %x, %x : (!hidden, !hidden) -> !hidden
  %1 = titan.reduce sum %0 : !hidden -> !row
  %eps = titan.constant 1.0e-05 : !titan.tensor<f32[]>
  %2 = titan.add %1, %eps : (!row, !titan.tensor<f32[]>) -> !row
  %3 = titan.rsqrt %2 : !row -> !row
  %4 = titan.mul %x, %3 : (!hidden, !row) -> !hidden
  %5 = titan.mul %4, %w : (!hidden, !column) -> !hidden
  // CHECK: return %[[Y]]
  return %5 : !hidden
}

// A sum over the rows is outside the region.
// CHECK-LABEL: func.func @columns
func.func @columns(%x: !hidden, %y: !hidden) -> !column {
  // CHECK: titan.fused rows ["batch", "seq"]
  // CHECK: titan.yield
  // CHECK: }
  // CHECK: titan.reduce sum
  %0 = titan.mul %x, %y : (!hidden, !hidden) -> !hidden
  %1 = titan.exp %0 : !hidden -> !hidden
  %2 = titan.reduce sum %1 : !hidden -> !column
  return %2 : !column
}

// Operations before and after a matrix product are two regions, although their rows are equal.
// CHECK-LABEL: func.func @around
func.func @around(%x: !hidden, %w: !weight) -> !wide {
  // CHECK: titan.fused
  // CHECK: titan.contract
  // CHECK: titan.fused
  // CHECK-NOT: titan.fused
  %0 = titan.exp %x : !hidden -> !hidden
  %1 = titan.neg %0 : !hidden -> !hidden
  %2 = titan.reduce sum %1 : !hidden -> !row
  %3 = titan.contract %1, %w : (!hidden, !weight) -> !wide
  %4 = titan.mul %3, %2 : (!wide, !row) -> !wide
  %5 = titan.tanh %4 : !wide -> !wide
  return %5 : !wide
}

// A single operation is not fused. A row that exceeds the row buffers is stored to memory for the
// operation that reads it after the maximum.
// CHECK-LABEL: func.func @alone
// CHECK: titan.exp
// CHECK: titan.fused rows ["batch"]
// CHECK-NEXT: titan.exp
// CHECK-NEXT: titan.reduce max
// CHECK-NEXT: titan.yield
// CHECK-NEXT: }
// CHECK-NEXT: titan.sub
!long = !titan.tensor<f32[batch = 64, vocab = 100000]>
func.func @alone(%x: !hidden, %long: !long) -> (!hidden, !long) {
  %0 = titan.exp %x : !hidden -> !hidden
  %1 = titan.exp %long : !long -> !long
  %2 = titan.reduce max %1 : !long -> !titan.tensor<f32[batch = 64]>
  %3 = titan.sub %1, %2 : (!long, !titan.tensor<f32[batch = 64]>) -> !long
  return %0, %3 : !hidden, !long
}

// A row buffer of bf16 has float elements: 12,000 elements are too many, also for sums that are stored
// to memory.
// CHECK-LABEL: func.func @narrow
// CHECK: titan.fused rows ["batch"]
// CHECK-NEXT: titan.exp
// CHECK-NEXT: titan.reduce max
// CHECK-NEXT: titan.yield
// CHECK-NEXT: }
// CHECK-NEXT: titan.sub
!narrow = !titan.tensor<bf16[batch = 64, vocab = 12000]>
func.func @narrow(%x: !narrow) -> !narrow {
  %1 = titan.exp %x : !narrow -> !narrow
  %2 = titan.reduce max %1 : !narrow -> !titan.tensor<bf16[batch = 64]>
  %3 = titan.sub %1, %2 : (!narrow, !titan.tensor<bf16[batch = 64]>) -> !narrow
  return %3 : !narrow
}

// Operations without row buffers are fused for any row length.
// CHECK-LABEL: func.func @long
// CHECK: titan.fused rows ["batch"]
func.func @long(%long: !long) -> !long {
  %1 = titan.exp %long : !long -> !long
  %2 = titan.neg %1 : !long -> !long
  return %2 : !long
}

// Constants do not affect the order: the region precedes the product, whether its constant is
// before the product or after it.
// CHECK-LABEL: func.func @early_constant
// CHECK: titan.fused
// CHECK: titan.contract
func.func @early_constant(%x: !hidden, %w: !weight) -> (!hidden, !wide) {
  %one = titan.constant 1.0 : !titan.tensor<f32[]>
  %0 = titan.exp %x : !hidden -> !hidden
  %1 = titan.contract %x, %w : (!hidden, !weight) -> !wide
  %2 = titan.add %0, %one : (!hidden, !titan.tensor<f32[]>) -> !hidden
  return %2, %1 : !hidden, !wide
}

// CHECK-LABEL: func.func @late_constant
// CHECK: titan.fused
// CHECK: titan.contract
func.func @late_constant(%x: !hidden, %w: !weight) -> (!hidden, !wide) {
  %0 = titan.exp %x : !hidden -> !hidden
  %1 = titan.contract %x, %w : (!hidden, !weight) -> !wide
  %one = titan.constant 1.0 : !titan.tensor<f32[]>
  %2 = titan.add %0, %one : (!hidden, !titan.tensor<f32[]>) -> !hidden
  return %2, %1 : !hidden, !wide
}

// A region around both elementwise operations would move the send after the receive.
// CHECK-LABEL: func.func @messages
// CHECK-NEXT: titan.exp
// CHECK-NEXT: dist.send
// CHECK-NEXT: dist.receive
// CHECK-NEXT: titan.add
func.func @messages(%x: !hidden) -> !hidden {
  %0 = titan.exp %x : !hidden -> !hidden
  dist.send %0 over ["pp"] by 1 : !hidden
  %1 = dist.receive %x over ["pp"] by 1 : !hidden -> !hidden
  %2 = titan.add %0, %1 : (!hidden, !hidden) -> !hidden
  return %2 : !hidden
}

// A gather of an input moves before the preceding region. A gather of a parameter does not move.
// CHECK-LABEL: func.func @gathers_early
// CHECK: dist.all_gather %arg1
// CHECK: titan.fused
// CHECK: dist.all_gather %arg2
!shard = !titan.tensor<f32[ffn = 256], <[{shard}]>>
!whole = !titan.tensor<f32[ffn = 256], <[{}]>>
func.func @gathers_early(%x: !hidden, %w: !shard {titan.input = "w"}, %p: !shard {titan.param = "p"})
    -> (!hidden, !whole, !whole) {
  %0 = titan.exp %x : !hidden -> !hidden
  %1 = titan.neg %0 : !hidden -> !hidden
  %2 = dist.all_gather %w over ["shard"] : !shard -> !whole
  %3 = dist.all_gather %p over ["shard"] : !shard -> !whole
  return %1, %2, %3 : !hidden, !whole, !whole
}

// The gather does not move before a repeat, across which its result would be live.
// CHECK-LABEL: func.func @gathers_after_repeat
// CHECK: titan.repeat
// CHECK: dist.all_gather
// CHECK: titan.fused
func.func @gathers_after_repeat(%x: !hidden, %w: !shard {titan.input = "w"}) -> (!hidden, !whole) {
  %y = titan.repeat <layers = 2> iter_args(%x) scanned() : (!hidden) -> !hidden {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !hidden):
    titan.yield %c : !hidden
  }
  %0 = titan.exp %y : !hidden -> !hidden
  %1 = titan.neg %0 : !hidden -> !hidden
  %2 = dist.all_gather %w over ["shard"] : !shard -> !whole
  return %1, %2 : !hidden, !whole
}
