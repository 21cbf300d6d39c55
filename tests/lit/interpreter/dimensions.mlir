// RUN: titan-interpret %s --gather | FileCheck %s
// Dimensions are renamed, split, merged, sliced and padded.
!x = !titan.tensor<f64[seq = 4]>
!pairs = !titan.tensor<f64[pair = 2, two = 2]>
!wide = !titan.tensor<f64[seq = 2, embed = 2]>
// CHECK:      value 0:
// CHECK-NEXT: [1, 2, 3, 4]
// CHECK:      value 1:
// CHECK-NEXT: {{\[\[}}1, 2], [3, 4]]
// CHECK:      value 2:
// CHECK-NEXT: [1, 2, 3, 4]
// CHECK:      value 3:
// CHECK-NEXT: [2, 3]
// CHECK:      value 4:
// CHECK-NEXT: [0, 2, 3, 0]
// A range of an inner dimension.
// CHECK:      value 5:
// CHECK-NEXT: {{\[\[}}2], [4]]
// CHECK:      value 6:
// CHECK-NEXT: {{\[\[}}0, 2], [0, 4]]
func.func @dimensions(%x: !x {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>},
                      %w: !wide {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0>})
    -> (!titan.tensor<f64[keys = 4 of seq]>, !pairs, !x, !titan.tensor<f64[part = 2]>, !x,
        !titan.tensor<f64[seq = 2, one = 1]>, !wide) {
  %anchor = titan.sharding_constraint %x : !x -> !x
  %stopped = titan.stop_gradient %anchor : !x -> !x
  %renamed = titan.rename %stopped : !x -> !titan.tensor<f64[keys = 4 of seq]>
  %split = titan.split %x dim "seq" : !x -> !pairs
  %merged = titan.merge %split dim "seq" : !pairs -> !x
  %slice = titan.slice %x dim "seq" from 1 : !x -> !titan.tensor<f64[part = 2]>
  %pad = titan.pad %slice dim "seq" from 1 : !titan.tensor<f64[part = 2]> -> !x
  %column = titan.slice %w dim "embed" from 1 : !wide -> !titan.tensor<f64[seq = 2, one = 1]>
  %back = titan.pad %column dim "embed" from 1 : !titan.tensor<f64[seq = 2, one = 1]> -> !wide
  return %renamed, %split, %merged, %slice, %pad, %column, %back
      : !titan.tensor<f64[keys = 4 of seq]>, !pairs, !x, !titan.tensor<f64[part = 2]>, !x, !titan.tensor<f64[seq = 2, one = 1]>, !wide
}
