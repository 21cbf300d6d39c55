// RUN: titan-interpret %s --auto 1 --gather > %t-one
// RUN: titan-interpret %s --auto 2 --gather > %t-two
// RUN: diff %t-one %t-two && FileCheck %s < %t-one

// Random numbers depend on global indices, for any sharding on any number of ranks; another stream,
// or another value of a key, gives other numbers.
// CHECK:      value 0: norm
// CHECK-NEXT: {{\[\[}}[[FIRST:.*]]
// CHECK:      value 1: norm
// CHECK-NOT:  [[FIRST]]
// CHECK:      value 2: norm
// CHECK-NOT:  [[FIRST]]
// CHECK:      value 3: norm
// CHECK-NEXT: {{\[\[}}[[FIRST]]
// CHECK:      value 4: norm
dist.mesh @mesh [#dist.axis<shard = auto>]
!k = !titan.tensor<i64[], <[]>>
!rows = !titan.tensor<f64[batch = 4, embed = 2], <[{shard}, {}]>>
!columns = !titan.tensor<f64[batch = 4, embed = 2], <[{}, {shard}]>>
func.func @random(%one: !k {titan.value = array<f64: 1.0>}, %two: !k {titan.value = array<f64: 2.0>})
    -> (!rows, !rows, !rows, !columns, !columns) {
  %a = titan.random uniform "a" keys(%one, %two) : (!k, !k) -> !rows
  %b = titan.random uniform "a" keys(%two, %one) : (!k, !k) -> !rows
  %c = titan.random uniform "c" keys(%one, %two) : (!k, !k) -> !rows
  %d = titan.random uniform "a" keys(%one, %two) : (!k, !k) -> !columns
  %e = titan.random normal "a" keys(%one, %two) : (!k, !k) -> !columns
  return %a, %b, %c, %d, %e : !rows, !rows, !rows, !columns, !columns
}
