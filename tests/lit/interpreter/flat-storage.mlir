// RUN: titan-interpret %s --local | FileCheck %s

// Flat storage consists of equal contiguous chunks for any dimensions: 2 layers of 3 x 1 elements
// on two ranks are 2 elements per layer, the last one padded with a zero.
dist.mesh @mesh [#dist.axis<shard = 2>, #dist.axis<tp = 2>]
!stored = !titan.tensor<f64[layers = 2, x = 3, y = 2], <[{}, {}, {tp}] flat 1 {shard}>>
!used = !titan.tensor<f64[layers = 2, x = 3, y = 2], <[{}, {}, {tp}]>>
!layer = !titan.tensor<f64[x = 3, y = 2], <[{}, {tp}] flat 0 {shard}>>
!layerUsed = !titan.tensor<f64[x = 3, y = 2], <[{}, {tp}]>>
!layerPartial = !titan.tensor<f64[x = 3, y = 2], <[{}, {tp}] partial sum {shard}>>
!scalar = !titan.tensor<f64[], <[]>>
!dot = !titan.tensor<f64[], <[] partial sum {shard, tp}>>

func.func @storage(%w: !stored {titan.value = array<f64: 1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0, 5.0, 50.0, 6.0, 60.0>})
    -> (!stored, !used, !stored, !scalar) {
  // Ranks are (shard, tp): rank 1 stores the first chunk of column 1, rank 3 the rest and the
  // padding.
  // CHECK:      rank 0 value 0 = {{\[\[}}1, 2], [4, 5]]
  // CHECK-NEXT: rank 1 value 0 = {{\[\[}}10, 20], [40, 50]]
  // CHECK-NEXT: rank 2 value 0 = {{\[\[}}3, 0], [6, 0]]
  // CHECK-NEXT: rank 3 value 0 = {{\[\[}}30, 0], [60, 0]]

  // Each layer is gathered, doubled, and reduced to its storage.
  // CHECK-NEXT: rank 0 value 1 = {{\[\[}}[1], [2], [3]], {{\[\[}}4], [5], [6]]]
  // CHECK-NEXT: rank 1 value 1 = {{\[\[}}[10], [20], [30]], {{\[\[}}40], [50], [60]]]
  // CHECK:      rank 0 value 2 = {{\[\[}}3, 6], [12, 15]]
  // CHECK-NEXT: rank 1 value 2 = {{\[\[}}30, 60], [120, 150]]
  // CHECK-NEXT: rank 2 value 2 = {{\[\[}}9, 0], [18, 0]]
  %seen, %sums = titan.repeat <layers = 2> iter_args() scanned(%w) : (!stored) -> (!used, !stored) {
  ^bb0(%l: !titan.tensor<i64[]>, %wl: !layer):
    %whole = dist.all_gather %wl over ["shard"] : !layer -> !layerUsed
    %partial = dist.make_partial %whole over ["shard"] : !layerUsed -> !layerPartial
    %reduced = dist.reduce_scatter %partial over ["shard"] : !layerPartial -> !layer
    // Elementwise operations work on flat storage.
    %two = titan.constant 2.0 : !scalar
    %doubled = titan.mul %wl, %two : (!layer, !scalar) -> !layer
    %sum = titan.add %doubled, %reduced : (!layer, !layer) -> !layer
    titan.yield %whole, %sum : !layerUsed, !layer
  }
  // The padding is zero, so a sum of squares over the storage is right: 91 + 9100.
  // CHECK: rank 0 value 3 = 9191
  %squares = titan.contract %w, %w : (!stored, !stored) -> !dot
  %norm = dist.all_reduce %squares over ["shard", "tp"] : !dot -> !scalar
  return %w, %seen, %sums, %norm : !stored, !used, !stored, !scalar
}
