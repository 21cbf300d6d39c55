// RUN: titan-interpret %s --gather | FileCheck %s

// A fused region has the semantics of its operations: each row divided by its sum.
!x = !titan.tensor<f64[seq = 2, embed = 2]>
// CHECK: value 0:
// CHECK-NEXT: {{\[\[}}0.25, 0.75], [0.5, 0.5]]
func.func @rows(%x: !x {titan.value = array<f64: 1.0, 3.0, 5.0, 5.0>}) -> !x {
  %y = titan.fused rows ["seq"] : !x {
    %s = titan.reduce sum %x : !x -> !titan.tensor<f64[seq = 2]>
    %d = titan.div %x, %s : (!x, !titan.tensor<f64[seq = 2]>) -> !x
    titan.yield %d : !x
  }
  return %y : !x
}
