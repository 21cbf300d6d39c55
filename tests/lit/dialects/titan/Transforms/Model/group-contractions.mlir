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

// A sum over a dimension of the indices follows the product.
// CHECK-LABEL: func.func @sums
func.func @sums(%h: !h, %w: !w2, %i: !i) -> !x {
  // CHECK: %[[P:.*]] = titan.grouped_contract %{{.*}} -> !titan.tensor<f32[seq = 8, slot = 2, embed = 4]>
  // CHECK: titan.reduce sum %[[P]]
  %e = titan.gather %w along "experts" at %i : (!w2, !i) -> !titan.tensor<f32[seq = 8, slot = 2, ffn = 6, embed = 4]>
  %y = titan.contract %h, %e : (!h, !titan.tensor<f32[seq = 8, slot = 2, ffn = 6, embed = 4]>) -> !x
  return %y : !x
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
