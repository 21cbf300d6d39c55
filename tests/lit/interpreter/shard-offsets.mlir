// RUN: titan-interpret %s --auto 2 --gather | FileCheck %s
// RUN: titan-interpret %s --auto 1 --gather | FileCheck %s
// RUN: titan-interpret %s --auto 4 --gather | FileCheck %s

// Positions, masks and tables use shard offsets, so that results do not depend on the number of
// ranks.
dist.mesh @mesh [#dist.axis<shard = auto>]
!pos = !titan.tensor<i64[seq = 4], <[{shard}]>>
!x = !titan.tensor<f64[seq = 4, head = 2], <[{shard}, {}]>>
!table = !titan.tensor<f64[vocab = 4], <[{shard}]>>
!ids = !titan.tensor<i64[seq = 4], <[{}]>>
!looked = !titan.tensor<f64[seq = 4], <[{}] partial sum {shard}>>
!rows = !titan.tensor<f64[seq = 4], <[{}]>>

// CHECK:      value 0:
// CHECK-NEXT: [0, 1, 2, 3]
// CHECK:      value 1: norm {{.*}}, sum 2.02605139241399
// CHECK:      value 2:
// CHECK-NEXT: [40, 20, 20, 20]
// CHECK:      value 3:
// CHECK-NEXT: [0, 70, 0, 30]
func.func @places(%x: !x {titan.value = array<f64: 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0>},
                  %table: !table {titan.value = array<f64: 10.0, 20.0, 30.0, 40.0>},
                  %ids: !ids {titan.value = array<f64: 3.0, 1.0, 1.0, 1.0>},
                  %updates: !rows {titan.value = array<f64: 30.0, 20.0, 20.0, 30.0>})
    -> (!pos, !x, !looked, !table) {
  %positions = titan.iota : !pos
  %rotated = titan.rotary %x along "seq" dim "head" {theta = 1.0} : !x -> !x
  // Each rank has some of the rows; missing rows count as 0.
  %looked = titan.gather %table along "vocab" at %ids : (!table, !ids) -> !looked
  %put = titan.scatter %updates along "vocab" at %ids : (!rows, !ids) -> !table
  return %positions, %rotated, %looked, %put : !pos, !x, !looked, !table
}
