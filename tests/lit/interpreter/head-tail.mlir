// RUN: titan-interpret %s --gather | FileCheck %s
// RUN: titan-interpret %s --local | FileCheck %s --check-prefix=LOCAL

// In head-tail order, rank 0 of two has the blocks 0 and 3 of four. Positions, masks, tables and collectives follow.
dist.mesh @mesh [#dist.axis<cp = 2>]
!pos = !titan.tensor<i64[seq = 8], <[{cp headtail}]>>
!all = !titan.tensor<i64[seq = 8], <[{}]>>
!block = !titan.tensor<i64[seq = 8], <[{cp}]>>
!table = !titan.tensor<f64[vocab = 8], <[{cp headtail}]>>
!ids = !titan.tensor<i64[n = 4], <[{}]>>
!looked = !titan.tensor<f64[n = 4], <[{}] partial sum {cp}>>
!rows = !titan.tensor<f64[n = 4], <[{}]>>
!q = !titan.tensor<f64[seq = 8, head = 1], <[{cp headtail}, {}]>>
!k = !titan.tensor<f64[seq = 8, head = 1], <[{}, {}]>>
!lse = !titan.tensor<f64[seq = 8], <[{cp headtail}]>>

// CHECK:      value 0:
// CHECK-NEXT: [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:      value 1:
// CHECK-NEXT: [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:      value 2:
// CHECK-NEXT: [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:      value 3:
// CHECK-NEXT: [7, 0, 2, 5]
// CHECK:      value 4:
// CHECK-NEXT: [20, 0, 30, 0, 0, 40, 0, 10]
// Query i has equal scores with the keys up to i, so its result is their mean.
// CHECK:      value 5:
// CHECK-NEXT: {{\[\[}}0], [0.5], [1], [1.5], [2], [2.5], [{{2.9999|3}}{{.*}}], [3.5]]

// LOCAL-DAG: rank 0 value 0 = [0, 1, 6, 7]
// LOCAL-DAG: rank 1 value 0 = [2, 3, 4, 5]
// LOCAL-DAG: rank 0 value 2 = [0, 1, 2, 3]
func.func @places(%table: !table {titan.value = array<f64: 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0>},
                  %ids: !ids {titan.value = array<f64: 7.0, 0.0, 2.0, 5.0>},
                  %updates: !rows {titan.value = array<f64: 10.0, 20.0, 30.0, 40.0>},
                  %q: !q {titan.value = array<f64: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>},
                  %v: !k {titan.value = array<f64: 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0>})
    -> (!pos, !all, !block, !looked, !table, !q) {
  %positions = titan.iota : !pos
  %all = dist.all_gather %positions over ["cp"] : !pos -> !all
  %block = dist.local_slice %all over ["cp"] : !all -> !block
  %looked = titan.gather %table along "vocab" at %ids : (!table, !ids) -> !looked
  %put = titan.scatter %updates along "vocab" at %ids : (!rows, !ids) -> !table
  %y, %lse = titan.attention %q, %v, %v along "seq" head "head" {scale = 1.0, causal} : (!q, !k, !k) -> (!q, !lse)
  return %positions, %all, %block, %looked, %put, %y : !pos, !all, !block, !looked, !table, !q
}
