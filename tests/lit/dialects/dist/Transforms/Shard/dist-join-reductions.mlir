// RUN: titan-opt --dist-join-reductions %s | FileCheck %s

dist.mesh @mesh [#dist.axis<t = 2>]

!x = !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>>
!xs = !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>>
!sum = !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}] partial sum {t}>>
!max = !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}] partial max {t}>>
!row = !titan.tensor<f32[embed = 4], <[{}]>>
!rowsum = !titan.tensor<f32[embed = 4], <[{}] partial sum {t}>>

// Terms of one sum are added before one reduction, in their order.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[X:.*]]: !titan.tensor{{.*}}, %[[P:.*]]: !titan.tensor{{.*}}, %[[Q:.*]]: !titan.tensor{{.*}}, %[[R:.*]]: !titan.tensor
// CHECK-NEXT: %[[PQ:.*]] = titan.add %[[P]], %[[Q]] : {{.*}} partial sum {t}>>
// CHECK-NEXT: %[[PQR:.*]] = titan.add %[[PQ]], %[[R]] : {{.*}} partial sum {t}>>
// CHECK-NEXT: %[[S:.*]] = dist.reshard %[[PQR]] :
// CHECK-NEXT: %[[Y:.*]] = titan.add %[[X]], %[[S]] :
// CHECK-NEXT: return %[[Y]]
func.func @chain(%x: !xs, %p: !sum, %q: !sum, %r: !sum) -> !xs {
  %0 = dist.reshard %p : !sum -> !xs
  %1 = titan.add %x, %0 : (!xs, !xs) -> !xs
  %2 = dist.reshard %q : !sum -> !xs
  %3 = titan.add %1, %2 : (!xs, !xs) -> !xs
  %4 = dist.reshard %r : !sum -> !xs
  %5 = titan.add %3, %4 : (!xs, !xs) -> !xs
  return %5 : !xs
}

// Only reductions of one type to one type are joined.
// CHECK-LABEL: func.func @types
// CHECK-COUNT-2: dist.reshard
// CHECK-NOT: dist.reshard
// CHECK: return
func.func @types(%x: !xs, %p: !sum, %q: !sum, %r: !x, %m: !max) -> (!xs, !xs) {
  %0 = dist.reshard %p : !sum -> !xs
  %1 = dist.reshard %r : !x -> !xs
  %2 = titan.add %0, %1 : (!xs, !xs) -> !xs
  return %2, %x : !xs, !xs
}

// A maximum is no sum; a reduction or an addition with another use is needed as it is.
// CHECK-LABEL: func.func @uses
// CHECK-COUNT-6: dist.reshard
// CHECK-NOT: dist.reshard
// CHECK: return
func.func @uses(%x: !xs, %p: !sum, %q: !sum, %m: !max) -> (!xs, !xs, !xs, !xs, !xs) {
  %0 = dist.reshard %m : !max -> !xs
  %1 = dist.reshard %m : !max -> !xs
  %2 = titan.add %0, %1 : (!xs, !xs) -> !xs
  %3 = dist.reshard %p : !sum -> !xs
  %4 = dist.reshard %q : !sum -> !xs
  %5 = titan.add %3, %4 : (!xs, !xs) -> !xs
  %6 = dist.reshard %p : !sum -> !xs
  %7 = titan.add %x, %6 : (!xs, !xs) -> !xs
  %8 = dist.reshard %q : !sum -> !xs
  %9 = titan.add %7, %8 : (!xs, !xs) -> !xs
  return %2, %3, %5, %7, %9 : !xs, !xs, !xs, !xs, !xs
}

// Biases between the terms do not matter.
// CHECK-LABEL: func.func @biases
// CHECK-SAME: %[[X:.*]]: !titan.tensor{{.*}}, %[[P:.*]]: !titan.tensor{{.*}}, %[[Q:.*]]: !titan.tensor{{.*}}, %[[B:.*]]: !titan.tensor{{.*}}, %[[C:.*]]: !titan.tensor
// CHECK-NEXT: %[[PQ:.*]] = titan.add %[[P]], %[[Q]]
// CHECK-NEXT: %[[S:.*]] = dist.reshard %[[PQ]] :
// CHECK-NEXT: %[[XS:.*]] = titan.add %[[X]], %[[S]]
// CHECK-NEXT: %[[XSB:.*]] = titan.add %[[XS]], %[[B]]
// CHECK-NEXT: %[[XSBC:.*]] = titan.add %[[XSB]], %[[C]]
// CHECK-NEXT: return %[[XSBC]]
func.func @biases(%x: !xs, %p: !sum, %q: !sum, %b: !row, %c: !row) -> !xs {
  %0 = dist.reshard %p : !sum -> !xs
  %1 = titan.add %0, %b : (!xs, !row) -> !xs
  %2 = titan.add %x, %1 : (!xs, !xs) -> !xs
  %3 = dist.reshard %q : !sum -> !xs
  %4 = titan.add %3, %c : (!xs, !row) -> !xs
  %5 = titan.add %2, %4 : (!xs, !xs) -> !xs
  return %5 : !xs
}

// A term that the addition repeats has another type.
// CHECK-LABEL: func.func @repeated
// CHECK-COUNT-2: dist.reshard
func.func @repeated(%p: !sum, %q: !rowsum) -> !x {
  %0 = dist.reshard %p : !sum -> !x
  %1 = dist.reshard %q : !rowsum -> !row
  %2 = titan.add %0, %1 : (!x, !row) -> !x
  return %2 : !x
}

// An unreduced value would be live throughout the repeat.
// CHECK-LABEL: func.func @across_repeat
// CHECK: dist.reshard
// CHECK: titan.repeat
// CHECK: dist.reshard
func.func @across_repeat(%x: !xs, %p: !sum, %q: !sum) -> (!xs, !xs) {
  %0 = dist.reshard %p : !sum -> !xs
  %1 = titan.repeat <layers = 3> iter_args(%x) scanned() : (!xs) -> !xs {
  ^bb0(%l: !titan.tensor<i64[], <[]>>, %y: !xs):
    %5 = titan.add %y, %y : (!xs, !xs) -> !xs
    titan.yield %5 : !xs
  }
  %2 = dist.reshard %q : !sum -> !xs
  %3 = titan.add %0, %2 : (!xs, !xs) -> !xs
  return %3, %1 : !xs, !xs
}
