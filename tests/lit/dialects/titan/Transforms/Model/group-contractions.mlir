// RUN: titan-opt %s --titan-group-contractions | FileCheck %s

!x = !titan.tensor<f32[seq = 8, embed = 4]>
!w = !titan.tensor<f32[experts = 3, embed = 4, ffn = 6]>
!w2 = !titan.tensor<f32[experts = 3, ffn = 6, embed = 4]>
!i = !titan.tensor<i64[seq = 8, slot = 2]>
!h = !titan.tensor<f32[seq = 8, slot = 2, ffn = 6]>

// A contraction with a gathered matrix per row; the order of the operands does not matter.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*, [^,]*}}, %[[W:[^:]*]]: {{.*}}, %[[I:[^:]*]]: !titan.tensor<i64
func.func @rows(%x: !x, %w: !w, %i: !i) -> (!h, !h) {
  // CHECK-NOT: titan.gather
  // CHECK: titan.grouped_contract %[[X]], %[[W]] along "experts" at %[[I]]
  // CHECK: titan.grouped_contract %[[X]], %[[W]] along "experts" at %[[I]]
  %e = titan.gather %w along "experts" at %i : (!w, !i) -> !titan.tensor<f32[seq = 8, slot = 2, embed = 4, ffn = 6]>
  %a = titan.contract %x, %e : (!x, !titan.tensor<f32[seq = 8, slot = 2, embed = 4, ffn = 6]>) -> !h
  %b = titan.contract %e, %x : (!titan.tensor<f32[seq = 8, slot = 2, embed = 4, ffn = 6]>, !x) -> !h
  return %a, %b : !h, !h
}

// The product is also the sum over a dimension of the indices: no row for every index exists.
// CHECK-LABEL: func.func @sums
func.func @sums(%h: !h, %w: !w2, %i: !i) -> !x {
  // CHECK: titan.grouped_contract %{{.*}} -> !titan.tensor<f32[seq = 8, embed = 4]>
  // CHECK-NOT: titan.reduce
  %e = titan.gather %w along "experts" at %i : (!w2, !i) -> !titan.tensor<f32[seq = 8, slot = 2, ffn = 6, embed = 4]>
  %y = titan.contract %h, %e : (!h, !titan.tensor<f32[seq = 8, slot = 2, ffn = 6, embed = 4]>) -> !x
  return %y : !x
}

// Sums in bf16 are rounded once.
// CHECK-LABEL: func.func @narrow_sums
func.func @narrow_sums(%h: !titan.tensor<bf16[seq = 8, slot = 2, ffn = 6]>, %w: !titan.tensor<bf16[experts = 3, ffn = 6, embed = 4]>, %i: !i) -> !titan.tensor<bf16[seq = 8, embed = 4]> {
  // CHECK: %[[S:.*]] = titan.grouped_contract %{{.*}} -> !titan.tensor<f32[seq = 8, embed = 4]>
  // CHECK: titan.cast round_before_reduce %[[S]]
  %e = titan.gather %w along "experts" at %i : (!titan.tensor<bf16[experts = 3, ffn = 6, embed = 4]>, !i) -> !titan.tensor<bf16[seq = 8, slot = 2, ffn = 6, embed = 4]>
  %y = titan.contract %h, %e : (!titan.tensor<bf16[seq = 8, slot = 2, ffn = 6]>, !titan.tensor<bf16[seq = 8, slot = 2, ffn = 6, embed = 4]>) -> !titan.tensor<bf16[seq = 8, embed = 4]>
  return %y : !titan.tensor<bf16[seq = 8, embed = 4]>
}

// Vectors of the same elements, such as biases, are summed without a vector for every index.
// CHECK-LABEL: func.func @biases
func.func @biases(%h: !h, %w: !w2, %b: !titan.tensor<f32[experts = 3, embed = 4]>, %s: !titan.tensor<f32[seq = 8, slot = 2]>, %i: !i) -> (!x, !x) {
  // CHECK-NOT: titan.gather
  // CHECK: titan.grouped_contract
  // CHECK: titan.grouped_contract %{{.*}} along "experts" at %{{.*}} : (!titan.tensor<f32[seq = 8, slot = 2]>, !titan.tensor<f32[experts = 3, embed = 4]>, !titan.tensor<i64[seq = 8, slot = 2]>) -> !titan.tensor<f32[seq = 8, embed = 4]>
  %e = titan.gather %w along "experts" at %i : (!w2, !i) -> !titan.tensor<f32[seq = 8, slot = 2, ffn = 6, embed = 4]>
  %y = titan.contract %h, %e : (!h, !titan.tensor<f32[seq = 8, slot = 2, ffn = 6, embed = 4]>) -> !x
  %v = titan.gather %b along "experts" at %i : (!titan.tensor<f32[experts = 3, embed = 4]>, !i) -> !titan.tensor<f32[seq = 8, slot = 2, embed = 4]>
  %z = titan.contract %s, %v : (!titan.tensor<f32[seq = 8, slot = 2]>, !titan.tensor<f32[seq = 8, slot = 2, embed = 4]>) -> !x
  return %y, %z : !x, !x
}

// Other vectors are gathered: a table of words has many elements, and each would be one product.
// CHECK-LABEL: func.func @bag_of_words
func.func @bag_of_words(%b: !titan.tensor<f32[experts = 3, embed = 4]>, %s: !titan.tensor<f32[seq = 8, slot = 2]>, %i: !i) -> !x {
  // CHECK: titan.gather
  // CHECK: titan.contract
  %v = titan.gather %b along "experts" at %i : (!titan.tensor<f32[experts = 3, embed = 4]>, !i) -> !titan.tensor<f32[seq = 8, slot = 2, embed = 4]>
  %z = titan.contract %s, %v : (!titan.tensor<f32[seq = 8, slot = 2]>, !titan.tensor<f32[seq = 8, slot = 2, embed = 4]>) -> !x
  return %z : !x
}

// Gathered rows of a table are not matrices: a gather is cheaper than a product per row of the table.
// CHECK-LABEL: func.func @embedding
func.func @embedding(%table: !titan.tensor<f32[vocab = 16, embed = 4]>, %w: !titan.tensor<f32[embed = 4, ffn = 6]>, %t: !titan.tensor<i64[seq = 8]>)
    -> !titan.tensor<f32[seq = 8, ffn = 6]> {
  // CHECK: titan.gather
  // CHECK: titan.contract
  %x = titan.gather %table along "vocab" at %t : (!titan.tensor<f32[vocab = 16, embed = 4]>, !titan.tensor<i64[seq = 8]>) -> !x
  %y = titan.contract %x, %w : (!x, !titan.tensor<f32[embed = 4, ffn = 6]>) -> !titan.tensor<f32[seq = 8, ffn = 6]>
  return %y : !titan.tensor<f32[seq = 8, ffn = 6]>
}
