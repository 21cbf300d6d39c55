// RUN: titan-opt --canonicalize="region-simplify=disabled" %s | FileCheck %s

!rows = !titan.tensor<f32[seq = 8]>
!matrix = !titan.tensor<f32[seq = 8, embed = 4]>
!turned = !titan.tensor<f32[embed = 4, seq = 8]>
!half = !titan.tensor<bf16[seq = 8]>
!wide = !titan.tensor<f64[seq = 8]>
!count = !titan.tensor<i64[seq = 8]>
!mask = !titan.tensor<i1[seq = 8]>
!s = !titan.tensor<f32[]>
!d = !titan.tensor<f64[]>
!h = !titan.tensor<bf16[]>
!i = !titan.tensor<i64[]>
!b = !titan.tensor<i1[]>

// A product with 1 and a quotient by 1 fold to the other operand; so does a difference with 0.
// CHECK-LABEL: func.func @identities(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}}, %[[N:[^:]*]]: {{.*}})
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[N]], %[[N]]
func.func @identities(%x: !rows, %n: !count) -> (!rows, !rows, !rows, !rows, !rows, !rows, !count, !count) {
  %one = titan.constant 1.0 : !s
  %ones = titan.expand %one : !s -> !rows
  %zero = titan.constant 0.0 : !s
  %none = titan.constant 0 : !i
  %0 = titan.mul %x, %one : (!rows, !s) -> !rows
  %1 = titan.mul %ones, %x : (!rows, !rows) -> !rows
  %2 = titan.div %x, %one : (!rows, !s) -> !rows
  %3 = titan.sub %x, %zero : (!rows, !s) -> !rows
  %4 = titan.maximum %x, %x : (!rows, !rows) -> !rows
  %5 = titan.minimum %x, %x : (!rows, !rows) -> !rows
  %6 = titan.add %n, %none : (!count, !i) -> !count
  %7 = titan.sub %n, %none : (!count, !i) -> !count
  return %0, %1, %2, %3, %4, %5, %6, %7 : !rows, !rows, !rows, !rows, !rows, !rows, !count, !count
}

// -0 + 0 is 0, so x + 0 stays and x + -0 folds; x * 0 stays, because 0 times infinity is NaN.
// CHECK-LABEL: func.func @signs_of_zero(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}})
// CHECK: %[[SUM:.*]] = titan.add %[[X]]
// CHECK: %[[DIFFERENCE:.*]] = titan.sub %[[X]]
// CHECK: %[[PRODUCT:.*]] = titan.mul %[[X]]
// CHECK: return %[[X]], %[[SUM]], %[[DIFFERENCE]], %[[PRODUCT]]
func.func @signs_of_zero(%x: !rows) -> (!rows, !rows, !rows, !rows) {
  %zero = titan.constant 0.0 : !s
  %negative = titan.constant -0.0 : !s
  %0 = titan.add %x, %negative : (!rows, !s) -> !rows
  %1 = titan.add %x, %zero : (!rows, !s) -> !rows
  %2 = titan.sub %x, %negative : (!rows, !s) -> !rows
  %3 = titan.mul %x, %zero : (!rows, !s) -> !rows
  return %0, %1, %2, %3 : !rows, !rows, !rows, !rows
}

// A fold keeps the order of dimensions.
// CHECK-LABEL: func.func @order
// CHECK: titan.mul
func.func @order(%x: !matrix) -> !turned {
  %one = titan.constant 1.0 : !s
  %ones = titan.expand %one : !s -> !turned
  %0 = titan.mul %ones, %x : (!turned, !matrix) -> !turned
  return %0 : !turned
}

// Inverse operations fold, and so do a cast to a wider type and back.
// CHECK-LABEL: func.func @inverses(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}}, %[[H:[^:]*]]: {{.*}}, %[[W:[^:]*]]: {{.*}})
// CHECK-NEXT: %[[NARROW:.*]] = titan.cast %[[W]]
// CHECK-NEXT: %[[BACK:.*]] = titan.cast %[[NARROW]]
// CHECK-NEXT: return %[[X]], %[[H]], %[[BACK]], %[[X]]
func.func @inverses(%x: !rows, %h: !half, %w: !wide) -> (!rows, !half, !wide, !rows) {
  %0 = titan.neg %x : !rows -> !rows
  %1 = titan.neg %0 : !rows -> !rows
  %2 = titan.cast %h : !half -> !rows
  %3 = titan.cast %2 : !rows -> !half
  %4 = titan.cast %w : !wide -> !rows
  %5 = titan.cast %4 : !rows -> !wide
  %6 = titan.cast %x : !rows -> !rows
  return %1, %3, %5, %6 : !rows, !half, !wide, !rows
}

// CHECK-LABEL: func.func @choices(
// CHECK-SAME: %[[M:[^:]*]]: {{.*}}, %[[X:[^:]*]]: {{.*}}, %[[Y:[^:]*]]: {{.*}})
// CHECK-NEXT: return %[[X]], %[[X]], %[[Y]]
func.func @choices(%m: !mask, %x: !rows, %y: !rows) -> (!rows, !rows, !rows) {
  %yes = titan.constant 1 : !b
  %no = titan.constant 0 : !b
  %0 = titan.select %m, %x, %x : (!mask, !rows, !rows) -> !rows
  %1 = titan.select %yes, %x, %y : (!b, !rows, !rows) -> !rows
  %2 = titan.select %no, %x, %y : (!b, !rows, !rows) -> !rows
  return %0, %1, %2 : !rows, !rows, !rows
}

// An operand is not expanded along dimensions that another operand has.
// CHECK-LABEL: func.func @expansions(
// CHECK-SAME: %[[X:[^:]*]]: {{.*}}, %[[M:[^:]*]]: {{.*}}, %[[A:[^:]*]]: {{.*}})
// CHECK-NEXT: %[[KEPT:.*]] = titan.expand %[[X]]
// CHECK-NEXT: %[[SUM:.*]] = titan.add %[[M]], %[[X]]
// CHECK-NEXT: %[[WIDER:.*]] = titan.mul %[[KEPT]], %[[X]]
// CHECK-NEXT: %[[TWICE:.*]] = titan.expand %[[A]] : <f32[]> -> <f32[seq = 8, embed = 4]>
// CHECK-NEXT: return %[[SUM]], %[[WIDER]], %[[TWICE]]
func.func @expansions(%x: !rows, %m: !matrix, %a: !s) -> (!matrix, !matrix, !matrix) {
  %0 = titan.expand %x : !rows -> !matrix
  %1 = titan.add %m, %0 : (!matrix, !matrix) -> !matrix
  %2 = titan.mul %0, %x : (!matrix, !rows) -> !matrix
  %3 = titan.expand %a : !s -> !rows
  %4 = titan.expand %3 : !rows -> !matrix
  return %1, %2, %4 : !matrix, !matrix, !matrix
}

// Integers are exact, also beyond the digits of an f64; division by 0 gives 0.
// CHECK-LABEL: func.func @integers
// CHECK-DAG: %[[LARGE:.*]] = titan.constant 9007199254740993 : <i64[]>
// CHECK-DAG: %[[PRODUCT:.*]] = titan.constant -6 : <i64[]>
// CHECK-DAG: %[[NONE:.*]] = titan.constant 0 : <i64[]>
// CHECK-DAG: %[[LESS:.*]] = titan.constant 1 : <i1[]>
// CHECK: return %[[LARGE]], %[[PRODUCT]], %[[NONE]], %[[LESS]]
func.func @integers() -> (!i, !i, !i, !b) {
  %power = titan.constant 9007199254740992 : !i
  %one = titan.constant 1 : !i
  %two = titan.constant 2 : !i
  %minus_three = titan.constant -3 : !i
  %zero = titan.constant 0 : !i
  %0 = titan.add %power, %one : (!i, !i) -> !i
  %1 = titan.mul %two, %minus_three : (!i, !i) -> !i
  %2 = titan.div %two, %zero : (!i, !i) -> !i
  %3 = titan.compare lt, %minus_three, %two : (!i, !i) -> !b
  return %0, %1, %2, %3 : !i, !i, !i, !b
}

// f32 arithmetic rounds to f32; bf16 arithmetic is left to the program.
// CHECK-LABEL: func.func @numbers
// CHECK-DAG: %[[THIRD:.*]] = titan.constant 0.33333334326744{{[0-9]*}} : <f32[]>
// CHECK-DAG: %[[TENTH:.*]] = titan.constant 0.1000000014901{{[0-9]*}} : <f64[]>
// CHECK-DAG: %[[NEGATIVE:.*]] = titan.constant -3.000000e+00 : <f32[]>
// CHECK-DAG: %[[TRUNCATED:.*]] = titan.constant -2 : <i64[]>
// CHECK: %[[LEFT:.*]] = titan.div {{.*}}bf16
// CHECK: return %[[THIRD]], %[[TENTH]], %[[NEGATIVE]], %[[TRUNCATED]], %[[LEFT]]
func.func @numbers() -> (!s, !d, !s, !i, !h) {
  %one = titan.constant 1.0 : !s
  %three = titan.constant 3.0 : !s
  %tenth = titan.constant 0.1 : !s
  %fraction = titan.constant -2.75 : !s
  %a = titan.constant 1.0 : !h
  %c = titan.constant 3.0 : !h
  %0 = titan.div %one, %three : (!s, !s) -> !s
  %1 = titan.cast %tenth : !s -> !d
  %2 = titan.neg %three : !s -> !s
  %3 = titan.cast %fraction : !s -> !i
  %4 = titan.div %a, %c : (!h, !h) -> !h
  return %0, %1, %2, %3, %4 : !s, !d, !s, !i, !h
}

// A copy does not fold.
// CHECK-LABEL: func.func @copy
// CHECK: titan.copy
func.func @copy(%x: !rows) -> !rows {
  %0 = titan.copy %x : !rows -> !rows
  return %0 : !rows
}
