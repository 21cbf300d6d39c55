// RUN: split-file %s %t
// RUN: titan-interpret %t/whole.mlir --compare %t/split.mlir | FileCheck %s --check-prefix=EQUAL
// RUN: not titan-interpret %t/whole.mlir --compare %t/other.mlir | FileCheck %s --check-prefix=OTHER
// RUN: titan-interpret %t/whole.mlir --compare %t/other.mlir --tolerance 0.2 | FileCheck %s --check-prefix=LOOSE
// RUN: not titan-interpret %t/whole.mlir --compare %t/nothing.mlir | FileCheck %s --check-prefix=NOTHING

// The same function on one rank and on two.
// EQUAL: equal: 2 results compared, greatest deviation 0 in output y
// The 2-norm of the difference relative to that of the other: (5.5 - 5) / 5.5.
// OTHER: only one of the programs has output z
// OTHER: DIFFERENT: 1 results compared, greatest deviation 0.0909090909{{[0-9]+}} in output y
// LOOSE: equal: 1 results compared
// Programs without a common result are not equal.
// NOTHING: DIFFERENT: 0 results compared

//--- whole.mlir
!x = !titan.tensor<f64[x = 2]>
func.func @f(%x: !x {titan.value = array<f64: 3.0, 4.0>}) -> (!x {titan.output = "y"}, !x {titan.output = "z"}) {
  %y = titan.neg %x : !x -> !x
  return %y, %x : !x, !x
}

//--- split.mlir
dist.mesh @mesh [#dist.axis<a = 2>]
!x = !titan.tensor<f64[x = 2], <[{a}]>>
func.func @f(%x: !x {titan.value = array<f64: 3.0, 4.0>}) -> (!x {titan.output = "z"}, !x {titan.output = "y"}) {
  %y = titan.neg %x : !x -> !x
  return %x, %y : !x, !x
}

//--- other.mlir
!x = !titan.tensor<f64[x = 2]>
func.func @f(%x: !x {titan.value = array<f64: 3.3, 4.4>}) -> (!x {titan.output = "y"}) {
  %y = titan.neg %x : !x -> !x
  return %y : !x
}

//--- nothing.mlir
func.func @f() -> (!titan.tensor<f64[]> {titan.output = "w"}) {
  %y = titan.constant 1.0 : !titan.tensor<f64[]>
  return %y : !titan.tensor<f64[]>
}
