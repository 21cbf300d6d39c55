// RUN: titan-interpret %s --gather | FileCheck %s

!table = !titan.tensor<f64[vocab = 3, embed = 2]>
!ids = !titan.tensor<i64[seq = 4]>
!rows = !titan.tensor<f64[seq = 4, embed = 2]>
// Rows of a table; an index out of range gives zeros.
// CHECK:      value 0:
// CHECK-NEXT: {{\[\[}}5, 6], [1, 2], [5, 6], [0, 0]]
// A common dimension of indices and table is a batch.
// CHECK:      value 1:
// CHECK-NEXT: [50, 20]
// The transpose of gather: updates of the same row are added, others are dropped.
// CHECK:      value 2:
// CHECK-NEXT: {{\[\[}}3, 4], [0, 0], [6, 8]]
// A dimension of the updates that the result lacks is summed.
// CHECK:      value 3:
// CHECK-NEXT: [7, 0, 14]
func.func @indexing(%table: !table {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>},
                    %ids: !ids {titan.value = array<f64: 2.0, 0.0, 2.0, 7.0>},
                    %pairs: !titan.tensor<f64[seq = 2, vocab = 3]> {titan.value = array<f64: 10.0, 30.0, 50.0, 0.0, 20.0, 40.0>},
                    %picks: !titan.tensor<i64[seq = 2]> {titan.value = array<f64: 2.0, 1.0>},
                    %updates: !rows {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0, 9.0>})
    -> (!rows, !titan.tensor<f64[seq = 2]>, !table, !titan.tensor<f64[vocab = 3]>) {
  %rows = titan.gather %table along "vocab" at %ids : (!table, !ids) -> !rows
  %picked = titan.gather %pairs along "vocab" at %picks : (!titan.tensor<f64[seq = 2, vocab = 3]>, !titan.tensor<i64[seq = 2]>) -> !titan.tensor<f64[seq = 2]>
  %put = titan.scatter %updates along "vocab" at %ids : (!rows, !ids) -> !table
  %summed = titan.scatter %updates along "vocab" at %ids : (!rows, !ids) -> !titan.tensor<f64[vocab = 3]>
  return %rows, %picked, %put, %summed : !rows, !titan.tensor<f64[seq = 2]>, !table, !titan.tensor<f64[vocab = 3]>
}
