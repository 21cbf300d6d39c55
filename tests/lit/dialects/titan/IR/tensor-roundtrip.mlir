// RUN: titan-opt %s | titan-opt | FileCheck %s

!x = !titan.tensor<f32[seq = 8, embed = 4]>
!w = !titan.tensor<f32[embed = 4, heads = 2, head = 2]>
!q = !titan.tensor<f32[seq = 8, heads = 2, head = 2]>

// A contraction sums over dimensions of both operands that the result lacks; a sharding constraint.
// CHECK-LABEL: func.func @contract
func.func @contract(%x: !x, %w: !w) -> !q {
  // CHECK: titan.contract %{{.*}}, %{{.*}} : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[embed = 4, heads = 2, head = 2]>) -> !titan.tensor<f32[seq = 8, heads = 2, head = 2]>
  %0 = titan.contract %x, %w : (!x, !w) -> !q
  // CHECK: titan.contract %{{.*}}, %{{.*}} into %{{.*}} : ({{.*}}, {{.*}}, !titan.tensor<f32[seq = 8, heads = 2, head = 2]>) ->
  %into = titan.contract %x, %w into %0 : (!x, !w, !q) -> !q
  // CHECK: titan.sharding_constraint
  %1 = titan.sharding_constraint %into : !q -> !q
  return %1 : !q
}

// A contraction with selected elements of a table; its gradient, whose result is the table.
// CHECK-LABEL: func.func @grouped
func.func @grouped(%x: !x, %w: !titan.tensor<f32[experts = 3, embed = 4, ffn = 6]>, %i: !titan.tensor<i64[seq = 8, slot = 2]>) -> !titan.tensor<f32[experts = 3, embed = 4, ffn = 6]> {
  // CHECK: titan.grouped_contract %{{.*}}, %{{.*}} along "experts" at %{{.*}} : (!titan.tensor<f32[seq = 8, embed = 4]>, !titan.tensor<f32[experts = 3, embed = 4, ffn = 6]>, !titan.tensor<i64[seq = 8, slot = 2]>) -> !titan.tensor<f32[seq = 8, slot = 2, ffn = 6]>
  %y = titan.grouped_contract %x, %w along "experts" at %i : (!x, !titan.tensor<f32[experts = 3, embed = 4, ffn = 6]>, !titan.tensor<i64[seq = 8, slot = 2]>) -> !titan.tensor<f32[seq = 8, slot = 2, ffn = 6]>
  // CHECK: titan.grouped_contract %{{.*}}, %{{.*}} along "experts" at %{{.*}} into %{{.*}} :
  %dw = titan.grouped_contract %x, %y along "experts" at %i into %w : (!x, !titan.tensor<f32[seq = 8, slot = 2, ffn = 6]>, !titan.tensor<i64[seq = 8, slot = 2]>, !titan.tensor<f32[experts = 3, embed = 4, ffn = 6]>) -> !titan.tensor<f32[experts = 3, embed = 4, ffn = 6]>
  return %dw : !titan.tensor<f32[experts = 3, embed = 4, ffn = 6]>
}

// A reduction names its kind; the dimensions that the result lacks are reduced.
// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: !x) -> !titan.tensor<f32[seq = 8]> {
  // CHECK: titan.reduce max
  %0 = titan.reduce max %x : !x -> !titan.tensor<f32[seq = 8]>
  // CHECK: titan.reduce min
  %1 = titan.reduce min %x : !x -> !titan.tensor<f32[seq = 8]>
  // CHECK: titan.reduce sum
  %2 = titan.reduce sum %x : !x -> !titan.tensor<f32[seq = 8]>
  return %2 : !titan.tensor<f32[seq = 8]>
}

// Gather and scatter are transposes of each other.
// CHECK-LABEL: func.func @index
func.func @index(%table: !titan.tensor<f32[vocab = 16, embed = 4]>, %i: !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[vocab = 16, embed = 4]> {
  // CHECK: titan.gather %{{.*}} along "vocab" at
  %0 = titan.gather %table along "vocab" at %i : (!titan.tensor<f32[vocab = 16, embed = 4]>, !titan.tensor<i64[seq = 8]>) -> !x
  // CHECK: titan.scatter %{{.*}} along "vocab" at
  %1 = titan.scatter %0 along "vocab" at %i : (!x, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<f32[vocab = 16, embed = 4]>
  // CHECK: titan.scatter %{{.*}} along "vocab" at %{{.*}} into %{{.*}} :
  %into = titan.scatter %0 along "vocab" at %i into %1 : (!x, !titan.tensor<i64[seq = 8]>, !titan.tensor<f32[vocab = 16, embed = 4]>) -> !titan.tensor<f32[vocab = 16, embed = 4]>
  return %1 : !titan.tensor<f32[vocab = 16, embed = 4]>
}

// Dimensions are renamed, split, merged, sliced and padded by name.
// CHECK-LABEL: func.func @dimensions
func.func @dimensions(%x: !x) -> !x {
  // CHECK: titan.rename %{{.*}} -> <f32[keys = 8 of seq, embed = 4]>
  %0 = titan.rename %x : !x -> !titan.tensor<f32[keys = 8 of seq, embed = 4]>
  // CHECK: titan.split %{{.*}} dim "embed"
  %1 = titan.split %x dim "embed" : !x -> !titan.tensor<f32[seq = 8, pair = 2, two = 2]>
  // CHECK: titan.merge %{{.*}} dim "embed"
  %2 = titan.merge %1 dim "embed" : !titan.tensor<f32[seq = 8, pair = 2, two = 2]> -> !x
  // CHECK: titan.slice %{{.*}} dim "seq" from 2
  %3 = titan.slice %2 dim "seq" from 2 : !x -> !titan.tensor<f32[prefix = 4 of seq, embed = 4]>
  // CHECK: titan.pad %{{.*}} dim "seq" from 2
  %4 = titan.pad %3 dim "seq" from 2 : !titan.tensor<f32[prefix = 4 of seq, embed = 4]> -> !x
  return %4 : !x
}

// insert_slice replaces a range of a tensor.
// CHECK-LABEL: func.func @insert_slice
func.func @insert_slice(%x: !titan.tensor<f32[seq = 2, embed = 4]>, %into: !x, %p: !titan.tensor<i64[]>,
                        %each: !titan.tensor<i64[embed = 4]>) -> !x {
  // CHECK: titan.insert_slice %{{.*}} into %{{.*}} dim "seq" from %{{.*}} : (
  %0 = titan.insert_slice %x into %into dim "seq" from %p : (!titan.tensor<f32[seq = 2, embed = 4]>, !x, !titan.tensor<i64[]>) -> !x
  // CHECK: titan.insert_slice {{.*}}!titan.tensor<i64[embed = 4]>
  %1 = titan.insert_slice %x into %0 dim "seq" from %each : (!titan.tensor<f32[seq = 2, embed = 4]>, !x, !titan.tensor<i64[embed = 4]>) -> !x
  return %1 : !x
}

// A bounds check of indices.
// CHECK-LABEL: func.func @check_index
func.func @check_index(%i: !titan.tensor<i64[seq = 8]>) -> !titan.tensor<i64[seq = 8]> {
  // CHECK: titan.check_index %{{.*}} along "vocab" size 27 : <i64[seq = 8]> -> <i64[seq = 8]>
  %0 = titan.check_index %i along "vocab" size 27 : !titan.tensor<i64[seq = 8]> -> !titan.tensor<i64[seq = 8]>
  return %0 : !titan.tensor<i64[seq = 8]>
}
