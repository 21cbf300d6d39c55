// RUN: titan-interpret %s --local | FileCheck %s

// The shards of each rank before and after every conversion of the dist dialect. The mesh has four
// ranks, (a, b) = (0, 0), (0, 1), (1, 0), (1, 1).
dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]

!whole = !titan.tensor<f64[x = 4]>
!splitA = !titan.tensor<f64[x = 4], <[{a}]>>
!splitAB = !titan.tensor<f64[x = 4], <[{a, b}]>>
!rowsA = !titan.tensor<f64[x = 2, y = 2], <[{a}, {}]>>
!columnsA = !titan.tensor<f64[x = 2, y = 2], <[{}, {a}]>>
!partialA = !titan.tensor<f64[x = 4], <[{}] partial sum {a}>>
!partialMax = !titan.tensor<f64[x = 4], <[{}] partial max {b}>>
!all = !titan.tensor<f64[x = 4], <[{}]>>

func.func @conversions(%v: !splitAB {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>},
                       %r: !rowsA {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>},
                       %all: !all {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>})
    -> (!splitAB, !splitA, !all, !columnsA, !splitA, !partialA, !all, !splitA, !all) {
  // Over the last axis of a list: pairs of ranks communicate.
  // CHECK:      rank 0 value 0 = [1]
  // CHECK-NEXT: rank 1 value 0 = [2]
  // CHECK-NEXT: rank 2 value 0 = [3]
  // CHECK-NEXT: rank 3 value 0 = [4]
  // CHECK-NEXT: rank 0 value 1 = [1, 2]
  // CHECK-NEXT: rank 1 value 1 = [1, 2]
  // CHECK-NEXT: rank 2 value 1 = [3, 4]
  // CHECK-NEXT: rank 3 value 1 = [3, 4]
  %gathered = dist.all_gather %v over ["b"] : !splitAB -> !splitA
  // Over both axes at once.
  // CHECK-NEXT: rank 0 value 2 = [1, 2, 3, 4]
  %both = dist.all_gather %v over ["a", "b"] : !splitAB -> !all

  // Rank (0, *) had row [1, 2] and now has column [1, 3].
  // CHECK:      rank 0 value 3 = {{\[\[}}1], [3]]
  // CHECK-NEXT: rank 1 value 3 = {{\[\[}}1], [3]]
  // CHECK-NEXT: rank 2 value 3 = {{\[\[}}2], [4]]
  %turned = dist.all_to_all %r over ["a"] : !rowsA -> !columnsA

  // No communication: each rank keeps its half.
  // CHECK:      rank 1 value 4 = [1, 2]
  // CHECK-NEXT: rank 2 value 4 = [3, 4]
  %sliced = dist.local_slice %all over ["a"] : !all -> !splitA

  // The first rank along a keeps the value, the other has zeros.
  // CHECK:      rank 1 value 5 = [1, 2, 3, 4]
  // CHECK-NEXT: rank 2 value 5 = [0, 0, 0, 0]
  %partial = dist.make_partial %all over ["a"] : !all -> !partialA
  %doubled = titan.add %partial, %partial : (!partialA, !partialA) -> !partialA
  // CHECK:      rank 2 value 6 = [2, 4, 6, 8]
  %reduced = dist.all_reduce %doubled over ["a"] : !partialA -> !all
  // CHECK:      rank 1 value 7 = [2, 4]
  // CHECK-NEXT: rank 2 value 7 = [6, 8]
  %scattered = dist.reduce_scatter %doubled over ["a"] : !partialA -> !splitA

  // Any sharding to any other, here from a partial maximum to a shard over the other axis and back.
  // CHECK:      rank 3 value 8 = [1, 2, 3, 4]
  %max = dist.reshard %all : !all -> !partialMax
  %back = dist.reshard %max : !partialMax -> !all
  return %v, %gathered, %both, %turned, %sliced, %partial, %reduced, %scattered, %back
      : !splitAB, !splitA, !all, !columnsA, !splitA, !partialA, !all, !splitA, !all
}
