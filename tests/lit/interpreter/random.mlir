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
// CHECK:      value 5: norm 0 
// CHECK:      value 6: norm 0 
dist.mesh @mesh [#dist.axis<shard = auto>]
!k = !titan.tensor<i64[], <[]>>
!rows = !titan.tensor<f64[batch = 4, embed = 2], <[{shard}, {}]>>
!columns = !titan.tensor<f64[batch = 4, embed = 2], <[{}, {shard}]>>
!back = !titan.tensor<f64[back = 2 of batch, embed = 2], <[{}, {shard}]>>
!one = !titan.tensor<f64[batch = 4, one = 1 of embed], <[{shard}, {}]>>
func.func @random(%one: !k {titan.value = array<f64: 1.0>}, %two: !k {titan.value = array<f64: 2.0>})
    -> (!rows, !rows, !rows, !columns, !columns, !back, !one) {
  %a = titan.random uniform "a" keys(%one, %two) : (!k, !k) -> !rows
  %b = titan.random uniform "a" keys(%two, %one) : (!k, !k) -> !rows
  %c = titan.random uniform "c" keys(%one, %two) : (!k, !k) -> !rows
  %d = titan.random uniform "a" keys(%one, %two) : (!k, !k) -> !columns
  %e = titan.random normal "a" keys(%one, %two) : (!k, !k) -> !columns
  %f = titan.slice %d dim "batch" from 2 : !columns -> !back
  %g = titan.random uniform "a" keys(%one, %two) from(%two) of [#titan.dim<back = 4>] : (!k, !k, !k) -> !back
  %h = titan.sub %f, %g : (!back, !back) -> !back
  %i = titan.slice %a dim "embed" from 1 : !rows -> !one
  %j = titan.random uniform "a" keys(%one, %two) from(%one) of [#titan.dim<one = 2>] : (!k, !k, !k) -> !one
  %k = titan.sub %i, %j : (!one, !one) -> !one
  return %a, %b, %c, %d, %e, %h, %k : !rows, !rows, !rows, !columns, !columns, !back, !one
}
