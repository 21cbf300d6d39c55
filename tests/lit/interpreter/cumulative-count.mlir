// RUN: titan-interpret %s --gather | FileCheck %s

// Equal indices are counted by row, in either order of the dimensions; an index out of range counts as 0.
// CHECK:      value 0:
// CHECK-NEXT: {{\[\[\[}}0, 0], [1, 2]], {{\[\[}}0, 1], [0, 0]]]
// CHECK:      value 1:
// CHECK-NEXT: {{\[\[\[}}0, 0], [1, 2]], {{\[\[}}0, 1], [0, 0]]]
!c = !titan.tensor<i64[batch = 2, seq = 2, chosen = 2]>
func.func @count(%i: !c {titan.value = array<f64: 1.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, -1.0>}) -> (!c, !c) {
  %tokens = titan.cumulative_count %i along "experts" size 3 over ["seq", "chosen"] : !c -> !c
  %choices = titan.cumulative_count %i along "experts" size 3 over ["chosen", "seq"] : !c -> !c
  return %tokens, %choices : !c, !c
}
