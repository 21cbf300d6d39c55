// RUN: split-file %s %t
// RUN: not titan-interpret %t/kind.mlir --program one,two 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not titan-interpret %t/order.mlir --program one,two,two,one 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not titan-interpret %t/missing.mlir --program one,two 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: titan-interpret %t/missing.mlir --program two,two --local | FileCheck %s --check-prefix=RIGHT

// Ranks with different programs call different collectives: the error names both positions.
// KIND: error: 'dist.reduce_scatter' op collectives do not match
// KIND-NEXT: rank 0 at one, kind.mlir:8:{{[0-9]+}}: dist.all_reduce sum of 4 to 4 f64 over ranks [0, 1]
// KIND-NEXT: rank 1 at two, kind.mlir:14:{{[0-9]+}}: dist.reduce_scatter sum of 4 to 2 f64 over ranks [0, 1]

//--- kind.mlir
dist.mesh @mesh [#dist.axis<a = 2>]
!all = !titan.tensor<f64[x = 4], <[{}]>>
!split = !titan.tensor<f64[x = 4], <[{a}]>>
!partial = !titan.tensor<f64[x = 4], <[{}] partial sum {a}>>

func.func @one(%v: !all {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> !all {
  %0 = dist.make_partial %v over ["a"] : !all -> !partial
  %1 = dist.all_reduce %0 over ["a"] : !partial -> !all
  return %1 : !all
}

func.func @two(%v: !all {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>}) -> !all {
  %0 = dist.make_partial %v over ["a"] : !all -> !partial
  %1 = dist.reduce_scatter %0 over ["a"] : !partial -> !split
  %2 = dist.all_gather %1 over ["a"] : !split -> !all
  return %2 : !all
}

//--- order.mlir
// Ranks wait in a ring, inside a repeat.
// ORDER: error: deadlock: no rank can proceed
// ORDER-NEXT: rank 0 at one, layers = 0, order.mlir:{{[0-9:]+}}: dist.all_gather of 1 to 2 f64 over ranks [0, 2]
// ORDER-NEXT: rank 1 at two, layers = 0, order.mlir:{{[0-9:]+}}: dist.all_gather of 1 to 2 f64 over ranks [0, 1]
// ORDER-NEXT: rank 2 at two, layers = 0, order.mlir:{{[0-9:]+}}: dist.all_gather of 1 to 2 f64 over ranks [2, 3]
// ORDER-NEXT: rank 3 at one, layers = 0, order.mlir:{{[0-9:]+}}: dist.all_gather of 1 to 2 f64 over ranks [1, 3]
dist.mesh @mesh [#dist.axis<a = 2>, #dist.axis<b = 2>]
!none = !titan.tensor<f64[x = 2], <[{}]>>
!a = !titan.tensor<f64[x = 2], <[{a}]>>
!b = !titan.tensor<f64[x = 2], <[{b}]>>

func.func @one(%v: !a {titan.value = array<f64: 1.0, 2.0>}, %w: !b {titan.value = array<f64: 1.0, 2.0>}) -> () {
  titan.repeat <layers = 2> iter_args() scanned() : () -> () {
  ^bb0(%l: !titan.tensor<i64[]>):
    %0 = dist.all_gather %v over ["a"] : !a -> !none
    %1 = dist.all_gather %w over ["b"] : !b -> !none
    titan.yield
  }
  return
}

func.func @two(%v: !a {titan.value = array<f64: 1.0, 2.0>}, %w: !b {titan.value = array<f64: 1.0, 2.0>}) -> () {
  titan.repeat <layers = 2> iter_args() scanned() : () -> () {
  ^bb0(%l: !titan.tensor<i64[]>):
    %1 = dist.all_gather %w over ["b"] : !b -> !none
    %0 = dist.all_gather %v over ["a"] : !a -> !none
    titan.yield
  }
  return
}

//--- missing.mlir
// A rank that never calls.
// MISSING: error: deadlock: no rank can proceed
// MISSING-NEXT: rank 0 has finished
// MISSING-NEXT: rank 1 at two, missing.mlir:{{[0-9:]+}}: dist.all_gather of 1 to 2 f64 over ranks [0, 1]
// RIGHT: rank 0 value 0 = [1, 2]
// RIGHT: rank 1 value 0 = [1, 2]
dist.mesh @mesh [#dist.axis<a = 2>]
!none = !titan.tensor<f64[x = 2], <[{}]>>
!a = !titan.tensor<f64[x = 2], <[{a}]>>
func.func @one(%v: !a {titan.value = array<f64: 1.0, 2.0>}, %w: !none {titan.value = array<f64: 1.0, 2.0>}) -> !none {
  return %w : !none
}
func.func @two(%v: !a {titan.value = array<f64: 1.0, 2.0>}, %w: !none {titan.value = array<f64: 1.0, 2.0>}) -> !none {
  %0 = dist.all_gather %v over ["a"] : !a -> !none
  return %0 : !none
}
