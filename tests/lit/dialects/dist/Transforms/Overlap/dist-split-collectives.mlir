// RUN: titan-opt --dist-split-collectives --dist-verify-overlap %s | FileCheck %s

dist.mesh @mesh [#dist.axis<a = 2>]
!c = !titan.tensor<f32[x = 8], <[{}] partial sum {a}>>
!s = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!x = !titan.tensor<f32[x = 8], <[{}]>>

// A collective with computation before its first use is split. Operands live until the wait, except those
// that are reduced in place.
// CHECK-LABEL: func.func @between
// CHECK-NEXT: %[[F:.*]] = dist.reduce_scatter %arg0 over ["a"] start 0
// CHECK-NEXT: %[[H:.*]] = dist.all_reduce %arg2 over ["a"] start 1
// CHECK-NEXT: %[[E:.*]] = titan.exp %arg1
// CHECK-NEXT: %[[R:.*]] = dist.wait 0 %[[F]] reading %arg0
// CHECK-NEXT: %[[S:.*]] = dist.wait 1 %[[H]] :
// CHECK-NEXT: return %[[E]], %[[R]], %[[S]]
func.func @between(%p: !c, %x: !x, %q: !c) -> (!x, !s, !x) {
  %g = dist.reduce_scatter %p over ["a"] : !c -> !s
  %h = dist.all_reduce %q over ["a"] : !c -> !x
  %e = titan.exp %x : !x -> !x
  return %e, %g, %h : !x, !s, !x
}

// There is nothing to overlap: the next operation needs the result.
// CHECK-LABEL: func.func @atOnce
// CHECK-NOT: start
func.func @atOnce(%p: !c, %x: !x) -> (!x, !x) {
  %g = dist.all_reduce %p over ["a"] : !c -> !x
  %e = titan.exp %g : !x -> !x
  %f = titan.exp %x : !x -> !x
  return %e, %f : !x, !x
}

// Operands are not live across a repeat.
// CHECK-LABEL: func.func @repeats
// CHECK: start 0
// CHECK: titan.exp
// CHECK-NEXT: dist.wait 0
// CHECK-NEXT: titan.repeat
func.func @repeats(%p: !c, %x: !x) -> (!x, !s) {
  %g = dist.reduce_scatter %p over ["a"] : !c -> !s
  %e = titan.exp %x : !x -> !x
  titan.repeat <layers = 2> iter_args() scanned() : () -> () {
  ^bb0(%l: !titan.tensor<i64[], <[]>>):
    titan.yield
  }
  return %e, %g : !x, !s
}

!rows = !titan.tensor<f32[x = 8, y = 4], <[{a}, {}]>>
!columns = !titan.tensor<f32[x = 8, y = 4], <[{}, {a}]>>

// All-to-alls, permutes and messages are split, too. A receive is in place; a send has no result, so its wait is at
// the end.
// CHECK-LABEL: func.func @moves
// CHECK-NEXT: %[[A:.*]] = dist.all_to_all %arg0 over ["a"] start 0
// CHECK-NEXT: %[[P:.*]] = dist.permute %arg1 over ["a"] by 1 start 1
// CHECK-NEXT: dist.send %arg1 over ["a"] by 1 start 2
// CHECK-NEXT: %[[R:.*]] = dist.receive %arg1 over ["a"] by 1 start 3
// CHECK-NEXT: titan.exp
// CHECK-NEXT: dist.wait 0 %[[A]] reading %arg0
// CHECK-NEXT: dist.wait 1 %[[P]] reading %arg1
// CHECK-NEXT: dist.wait 2 reading %arg1
// CHECK-NEXT: dist.wait 3 %[[R]] :
// CHECK-NEXT: return
func.func @moves(%x: !rows, %y: !columns) -> (!columns, !columns, !columns, !columns) {
  %0 = dist.all_to_all %x over ["a"] : !rows -> !columns
  %1 = dist.permute %y over ["a"] by 1 : !columns -> !columns
  dist.send %y over ["a"] by 1 : !columns
  %2 = dist.receive %y over ["a"] by 1 : !columns -> !columns
  %3 = titan.exp %y : !columns -> !columns
  return %0, %1, %2, %3 : !columns, !columns, !columns, !columns
}
