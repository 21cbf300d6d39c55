// RUN: titan-interpret %s --gather > %t && titan-interpret %s --program of_rows --gather >> %t && FileCheck %s < %t
// RUN: not titan-interpret %s --program beyond 2>&1 | FileCheck %s --check-prefix=BEYOND

!x = !titan.tensor<f64[embed = 2, seq = 4]>
!s = !titan.tensor<f64[embed = 2, seq = 2]>
!i = !titan.tensor<i64[]>

// One range for all rows.
// CHECK:      value 0:
// CHECK-NEXT: {{\[\[}}1, 9, 8, 4], [5, 7, 6, 8]]
func.func @inserted(%s: !s {titan.value = array<f64: 9.0, 8.0, 7.0, 6.0>},
                    %x: !x {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0>},
                    %p: !i {titan.value = array<f64: 1.0>}) -> !x {
  %y = titan.insert_slice %s into %x dim "seq" from %p : (!s, !x, !i) -> !x
  return %y : !x
}

!rows = !titan.tensor<i64[embed = 2]>

// A separate range for each row.
// CHECK:      value 0:
// CHECK-NEXT: {{\[\[}}1, 2, 9, 8], [7, 6, 7, 8]]
func.func @of_rows(%s: !s {titan.value = array<f64: 9.0, 8.0, 7.0, 6.0>},
                   %x: !x {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0>},
                   %p: !rows {titan.value = array<f64: 2.0, 0.0>}) -> !x {
  %y = titan.insert_slice %s into %x dim "seq" from %p : (!s, !x, !rows) -> !x
  return %y : !x
}

// BEYOND: error: 'titan.insert_slice' op inserts 2 elements at 3, beyond dimension "seq" of size 4
func.func @beyond(%s: !s {titan.value = array<f64: 9.0, 8.0, 7.0, 6.0>},
                  %x: !x {titan.value = array<f64: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0>},
                  %p: !i {titan.value = array<f64: 3.0>}) -> !x {
  %y = titan.insert_slice %s into %x dim "seq" from %p : (!s, !x, !i) -> !x
  return %y : !x
}
