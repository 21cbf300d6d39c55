// RUN: titan-interpret %s --gather | FileCheck %s

!x = !titan.tensor<f64[seq = 2, head = 4]>
// With theta = 1 every pair rotates by the position: not at position 0, by 1 radian at position 1,
// so (1, 0) becomes (cos 1, sin 1). Neighbours form pairs.
// CHECK:      value 0:
// CHECK-NEXT: {{\[\[}}1, 0, 1, 0], [0.54030230586813977, 0.8414709848078965, 0.54030230586813977, 0.8414709848078965]]
// Halves form pairs: (1, 1) and (0, 0).
// CHECK:      value 1:
// CHECK-NEXT: {{\[\[}}1, 0, 1, 0], [-0.30116867893975674, 0, 1.3817732906760363, 0]]
// The inverse rotation.
// CHECK:      value 2:
// CHECK-NEXT: {{\[\[}}1, 0, 1, 0], [1, 0, 1, 0]]
// The second pair rotates by position times theta^(-1/2) = 1/2.
// CHECK:      value 3:
// CHECK-NEXT: {{\[\[}}1, 0, 1, 0], [0.54030230586813977, 0.8414709848078965, 0.87758256189037276, 0.47942553860420301]]
// The same rotations from a list, and their inverse.
// CHECK:      value 4:
// CHECK-NEXT: {{\[\[}}1, 0, 1, 0], [0.87758256189037276, -0.47942553860420301, 0.54030230586813977, -0.8414709848078965]]
func.func @rotary(%x: !x {titan.value = array<f64: 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0>}) -> (!x, !x, !x, !x, !x) {
  %0 = titan.rotary %x along "seq" dim "head" {theta = 1.0, interleaved} : !x -> !x
  %1 = titan.rotary %x along "seq" dim "head" {theta = 1.0} : !x -> !x
  %2 = titan.rotary %0 along "seq" dim "head" {theta = 1.0, interleaved, inverse} : !x -> !x
  %3 = titan.rotary %x along "seq" dim "head" {theta = 4.0, interleaved} : !x -> !x
  %4 = titan.rotary %x along "seq" dim "head" {frequencies = array<f64: 0.5, 1.0>, interleaved, inverse} : !x -> !x
  return %0, %1, %2, %3, %4 : !x, !x, !x, !x, !x
}
