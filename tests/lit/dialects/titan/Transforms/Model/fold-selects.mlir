// RUN: titan-opt %s --titan-fold-selects | FileCheck %s

!at = !titan.tensor<i64[seq = 4]>
!mask = !titan.tensor<i1[seq = 4]>
!row = !titan.tensor<f32[seq = 4]>
!number = !titan.tensor<i64[]>
!real = !titan.tensor<f32[]>

module attributes {titan.sizes = {vocab = 8 : i64}} {

// A label that is a token is not negative, so both selects and the comparison vanish.
// CHECK-LABEL: func.func @decided
// CHECK-SAME: %[[LABELS:[a-z0-9]+]]: !titan.tensor<i64[seq = 4]>
// CHECK-SAME: %[[LOSS:[a-z0-9]+]]: !titan.tensor<f32[seq = 4]>
// CHECK-NEXT: return %[[LABELS]], %[[LOSS]]
func.func @decided(%labels: !at {titan.input = "labels"}, %loss: !row) -> (!at, !row) {
  %zero = titan.constant 0 : !number
  %none = titan.constant 0.0 : !real
  %negative = titan.compare lt, %labels, %zero : (!at, !number) -> !mask
  %index = titan.select %negative, %zero, %labels : (!mask, !number, !at) -> !at
  %counted = titan.select %negative, %none, %loss : (!mask, !real, !row) -> !row
  return %index, %counted : !at, !row
}

// The range of a folded select is that of its choice.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: %[[TOKENS:[a-z0-9]+]]: !titan.tensor<i64[seq = 4]>
// CHECK-NEXT: return %[[TOKENS]]
func.func @nested(%tokens: !at {titan.input = "tokens"}) -> !at {
  %zero = titan.constant 0 : !number
  %eight = titan.constant 8 : !number
  %inside = titan.compare lt, %tokens, %eight : (!at, !number) -> !mask
  %first = titan.select %inside, %tokens, %zero : (!mask, !at, !number) -> !at
  %natural = titan.compare ge, %first, %zero : (!at, !number) -> !mask
  %second = titan.select %natural, %first, %zero : (!mask, !at, !number) -> !at
  return %second : !at
}

// Labels of arrays may be negative, tokens are both below and above 5, and equality is no order.
// CHECK-LABEL: func.func @undecided
// CHECK-COUNT-3: titan.select
func.func @undecided(%labels: !at {titan.input = "label"}, %tokens: !at {titan.input = "tokens"}) -> (!at, !at, !at) {
  %zero = titan.constant 0 : !number
  %five = titan.constant 5 : !number
  %nine = titan.constant 9 : !number
  %negative = titan.compare lt, %labels, %zero : (!at, !number) -> !mask
  %a = titan.select %negative, %zero, %labels : (!mask, !number, !at) -> !at
  %small = titan.compare lt, %tokens, %five : (!at, !number) -> !mask
  %b = titan.select %small, %zero, %tokens : (!mask, !number, !at) -> !at
  %same = titan.compare eq, %tokens, %nine : (!at, !number) -> !mask
  %c = titan.select %same, %zero, %tokens : (!mask, !number, !at) -> !at
  return %a, %b, %c : !at, !at, !at
}

// A select that expands the chosen operand cannot fold to it, because their types differ.
// CHECK-LABEL: func.func @expanded
// CHECK: titan.select
func.func @expanded(%labels: !at {titan.input = "labels"}) -> !row {
  %zero = titan.constant 0 : !number
  %none = titan.constant 0.0 : !real
  %one = titan.constant 1.0 : !real
  %negative = titan.compare lt, %labels, %zero : (!at, !number) -> !mask
  %counts = titan.select %negative, %none, %one : (!mask, !real, !real) -> !row
  return %counts : !row
}

// A comparison with other uses stays.
// CHECK-LABEL: func.func @used
// CHECK: %[[NEGATIVE:.*]] = titan.compare lt
// CHECK-NOT: titan.select
// CHECK: return %{{.*}}, %[[NEGATIVE]]
func.func @used(%labels: !at {titan.input = "labels"}) -> (!at, !mask) {
  %zero = titan.constant 0 : !number
  %negative = titan.compare lt, %labels, %zero : (!at, !number) -> !mask
  %index = titan.select %negative, %zero, %labels : (!mask, !number, !at) -> !at
  return %index, %negative : !at, !mask
}

}
