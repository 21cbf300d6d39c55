// RUN: titan-opt %s --titan-check-indices | FileCheck %s

// Indices get a check unless their bounds are known to fit.
!table = !titan.tensor<f32[rows = 8, embed = 2]>
!at = !titan.tensor<i64[seq = 4]>
!row = !titan.tensor<f32[seq = 4, embed = 2]>
!number = !titan.tensor<i64[]>

module attributes {titan.sizes = {vocab = 8 : i64}} {

// CHECK-LABEL: func.func @known
// CHECK-NOT: check_index
// CHECK: return
func.func @known(%table: !table, %tokens: !at {titan.input = "tokens"}) -> (!row, !row, !row, !row, !table) {
  // The runtime checks tokens when it reads them, so indices by tokens need no check.
  %a = titan.gather %table along "rows" at %tokens : (!table, !at) -> !row
  %positions = titan.iota : !at
  %b = titan.gather %table along "rows" at %positions : (!table, !at) -> !row
  %three = titan.constant 3 : !number
  %seven = titan.constant 7 : !number
  %far = titan.add %positions, %three : (!at, !number) -> !at
  %c = titan.gather %table along "rows" at %far : (!table, !at) -> !row
  %square = titan.mul %tokens, %tokens : (!at, !at) -> !at
  %least = titan.minimum %square, %seven : (!at, !number) -> !at
  %d = titan.gather %table along "rows" at %least : (!table, !at) -> !row
  %e = titan.scatter %d along "rows" at %least : (!row, !at) -> !table
  return %a, %b, %c, %d, %e : !row, !row, !row, !row, !table
}

// A cumulative count is less than the number of elements. The indices that it counts, its operand, are checked as others are.
// CHECK-LABEL: func.func @cumulative_count
func.func @cumulative_count(%table: !table, %tokens: !at {titan.input = "tokens"}, %other: !at {titan.input = "positions"}) -> (!row, !at) {
  // CHECK-NOT: check_index
  // CHECK: titan.gather
  %slots = titan.cumulative_count %tokens along "vocab" size 8 over ["seq"] : !at -> !at
  %a = titan.gather %table along "rows" at %slots : (!table, !at) -> !row
  // CHECK: %[[OTHER:.*]] = titan.check_index %{{.*}} along "vocab" size 8
  // CHECK: titan.cumulative_count %[[OTHER]]
  %b = titan.cumulative_count %other along "vocab" size 8 over ["seq"] : !at -> !at
  return %a, %b : !row, !at
}

// CHECK-LABEL: func.func @unknown
func.func @unknown(%table: !table, %tokens: !at {titan.input = "tokens"}, %other: !at {titan.input = "positions"})
    -> (!row, !row, !table) {
  %one = titan.constant 1 : !number
  // CHECK: %[[SUM:.*]] = titan.add
  // CHECK: %[[NEXT:.*]] = titan.check_index %[[SUM]] along "rows" size 8
  // CHECK: titan.gather %{{.*}} along "rows" at %[[NEXT]]
  %next = titan.add %tokens, %one : (!at, !number) -> !at
  %a = titan.gather %table along "rows" at %next : (!table, !at) -> !row
  // CHECK: %[[OTHER:.*]] = titan.check_index %{{.*}} along "rows" size 8
  // CHECK: titan.gather %{{.*}} along "rows" at %[[OTHER]]
  %b = titan.gather %table along "rows" at %other : (!table, !at) -> !row
  // An index may be negative, so it gets a check.
  // CHECK: %[[LAST:.*]] = titan.sub
  // CHECK: titan.check_index %[[LAST]] along "rows" size 8
  %last = titan.sub %tokens, %one : (!at, !number) -> !at
  %c = titan.scatter %b along "rows" at %last : (!row, !at) -> !table
  return %a, %b, %c : !row, !row, !table
}

// The index of a repeat gets a check unless it fits. It has no memory that a check could read, so the check reads a copy.
// CHECK-LABEL: func.func @repeat_index
func.func @repeat_index(%table: !table, %x: !titan.tensor<f32[embed = 2]>) -> !titan.tensor<f32[embed = 2]> {
  // CHECK: titan.repeat <few = 8>
  // CHECK-NOT: check_index
  // CHECK: titan.repeat <many = 9>
  // CHECK: %[[COPY:.*]] = titan.copy
  // CHECK: titan.check_index %[[COPY]] along "rows" size 8
  %y = titan.repeat <few = 8> iter_args(%x) scanned() : (!titan.tensor<f32[embed = 2]>) -> !titan.tensor<f32[embed = 2]> {
  ^bb0(%l: !number, %c: !titan.tensor<f32[embed = 2]>):
    %row = titan.gather %table along "rows" at %l : (!table, !number) -> !titan.tensor<f32[embed = 2]>
    titan.yield %row : !titan.tensor<f32[embed = 2]>
  }
  %z = titan.repeat <many = 9> iter_args(%y) scanned() : (!titan.tensor<f32[embed = 2]>) -> !titan.tensor<f32[embed = 2]> {
  ^bb0(%l: !number, %c: !titan.tensor<f32[embed = 2]>):
    %row = titan.gather %table along "rows" at %l : (!table, !number) -> !titan.tensor<f32[embed = 2]>
    titan.yield %row : !titan.tensor<f32[embed = 2]>
  }
  return %z : !titan.tensor<f32[embed = 2]>
}

// An input that contains the indices, or of which the program replaces negative ones by a constant, also gets the
// range that the runtime checks before the first step. Several uses intersect their ranges.
// CHECK-LABEL: func.func @arrays
// CHECK-SAME: {titan.index_range = array<i64: 0, 7>, titan.input = "label"}
// CHECK-SAME: {titan.index_range = array<i64: -9223372036854775808, 5>, titan.input = "ignorable"}
// CHECK-SAME: %{{[a-z0-9]+}}: !titan.tensor<i64[seq = 4]> {titan.input = "shifted"}
func.func @arrays(%table: !table, %small: !titan.tensor<f32[few = 6, embed = 2]>, %label: !at {titan.input = "label"},
                  %ignorable: !at {titan.input = "ignorable"}, %shifted: !at {titan.input = "shifted"})
    -> (!row, !row, !row, !row) {
  %zero = titan.constant 0 : !number
  %fixed = titan.stop_gradient %label : !at -> !at
  %a = titan.gather %table along "rows" at %fixed : (!table, !at) -> !row
  %negative = titan.compare lt, %ignorable, %zero : (!at, !number) -> !titan.tensor<i1[seq = 4]>
  %index = titan.select %negative, %zero, %ignorable : (!titan.tensor<i1[seq = 4]>, !number, !at) -> !at
  %b = titan.gather %table along "rows" at %index : (!table, !at) -> !row
  %c = titan.gather %small along "few" at %index : (!titan.tensor<f32[few = 6, embed = 2]>, !at) -> !row
  // Arithmetic on an input does not restrict its range.
  %next = titan.minimum %shifted, %label : (!at, !at) -> !at
  %d = titan.gather %table along "rows" at %next : (!table, !at) -> !row
  return %a, %b, %c, %d : !row, !row, !row, !row
}
}
