// RUN: titan-opt %s --split-input-file --titan-distribute-contractions | FileCheck %s

!x = !titan.tensor<f32[seq = 64, embed = 16]>
!w = !titan.tensor<f32[embed = 16, ffn = 24]>
!a = !titan.tensor<f32[embed = 16, narrow = 2]>
!b = !titan.tensor<f32[narrow = 2, ffn = 24]>
!y = !titan.tensor<f32[seq = 64, ffn = 24]>
!s = !titan.tensor<f32[]>

// The product alone: thin factors one after the other.
// CHECK-LABEL: func.func @train
// CHECK: %[[N:.*]] = titan.contract %{{.*}} -> !titan.tensor<f32[seq = 64, narrow = 2]>
// CHECK: %[[V:.*]] = titan.contract %[[N]]
// CHECK: titan.mul %{{.*}}, %[[V]]
// CHECK-NOT: titan.contract
// CHECK: return
func.func @train(%x: !x {titan.input = "x", titan.drawn_below = 2}, %a: !a {titan.param = "a", titan.init = #titan.init<normal, [1.0]>},
                 %b: !b {titan.param = "b", titan.init = #titan.init<normal, [1.0]>})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %s = titan.constant 0.5 : !s
  %p = titan.contract %a, %b : (!a, !b) -> !w
  %scaled = titan.mul %s, %p : (!s, !w) -> !w
  %y = titan.contract %x, %scaled : (!x, !w) -> !y
  %loss = titan.reduce sum %y : !y -> !s
  return %loss : !s
}

// -----

!x = !titan.tensor<f32[seq = 64, embed = 16]>
!w = !titan.tensor<f32[embed = 16, ffn = 24]>
!a = !titan.tensor<f32[embed = 16, narrow = 2]>
!b = !titan.tensor<f32[narrow = 2, ffn = 24]>
!y = !titan.tensor<f32[seq = 64, ffn = 24]>
!s = !titan.tensor<f32[]>

// The base is frozen: the product would need the gradient of the sum, 2 * 64 * 16 * 24 operations.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[X:[^:]*]]: {{[^%]*}}%[[W:[^:]*]]: {{[^%]*}}%[[A:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: !titan
// CHECK: %[[S:.*]] = titan.constant
// CHECK: %[[U:.*]] = titan.contract %[[X]], %[[W]]
// CHECK: %[[N:.*]] = titan.contract %[[X]], %[[A]] : {{.*}} -> !titan.tensor<f32[seq = 64, narrow = 2]>
// CHECK: %[[V:.*]] = titan.contract %[[N]], %[[B]]
// CHECK: %[[SCALED:.*]] = titan.mul %[[S]], %[[V]]
// CHECK: titan.add %[[U]], %[[SCALED]]
// CHECK-NOT: titan.contract
// CHECK: return
func.func @train(%x: !x {titan.input = "x", titan.drawn_below = 2}, %w: !w {titan.param = "w", titan.init = #titan.init<normal, [1.0]>, titan.frozen},
                 %a: !a {titan.param = "a", titan.init = #titan.init<normal, [1.0]>}, %b: !b {titan.param = "b", titan.init = #titan.init<normal, [1.0]>})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %s = titan.constant 0.5 : !s
  %p = titan.contract %a, %b : (!a, !b) -> !w
  %c = titan.sharding_constraint %p {titan.name = "p"} : !w -> !w
  %scaled = titan.mul %s, %c : (!s, !w) -> !w
  %t = titan.add %w, %scaled : (!w, !w) -> !w
  %y = titan.contract %x, %t : (!x, !w) -> !y
  %loss = titan.reduce sum %y : !y -> !s
  return %loss : !s
}

// -----

!x = !titan.tensor<f32[seq = 64, embed = 16]>
!x1 = !titan.tensor<f32[seq = 1, embed = 16]>
!w = !titan.tensor<f32[embed = 16, ffn = 24]>
!a = !titan.tensor<f32[embed = 16, narrow = 2]>
!b = !titan.tensor<f32[narrow = 2, ffn = 24]>
!y = !titan.tensor<f32[seq = 64, ffn = 24]>
!y1 = !titan.tensor<f32[seq = 1, ffn = 24]>

// Without gradients, many rows are multiplied with the sum, which is computed once.
// CHECK-LABEL: func.func @logits
// CHECK: %[[T:.*]] = titan.add
// CHECK: titan.contract %{{.*}}, %[[T]]
func.func @logits(%x: !x {titan.input = "x"}, %w: !w {titan.param = "w", titan.init = #titan.init<normal, [1.0]>}, %a: !a {titan.param = "a", titan.init = #titan.init<normal, [1.0]>},
                  %b: !b {titan.param = "b", titan.init = #titan.init<normal, [1.0]>}) -> (!y {titan.output = "logits"}) attributes {titan.program = "logits"} {
  %p = titan.contract %a, %b : (!a, !b) -> !w
  %t = titan.add %w, %p : (!w, !w) -> !w
  %y = titan.contract %x, %t : (!x, !w) -> !y
  return %y : !y
}

// One row is multiplied with the factors.
// CHECK-LABEL: func.func @decode
// CHECK: %[[N:.*]] = titan.contract %{{.*}} -> !titan.tensor<f32[seq = 1, narrow = 2]>
// CHECK: titan.contract %[[N]]
func.func @decode(%x: !x1 {titan.input = "x"}, %w: !w {titan.param = "w", titan.init = #titan.init<normal, [1.0]>}, %a: !a {titan.param = "a", titan.init = #titan.init<normal, [1.0]>},
                  %b: !b {titan.param = "b", titan.init = #titan.init<normal, [1.0]>}) -> (!y1 {titan.output = "logits"}) attributes {titan.program = "decode"} {
  %p = titan.contract %a, %b : (!a, !b) -> !w
  %t = titan.add %p, %w : (!w, !w) -> !w
  %y = titan.contract %t, %x : (!w, !x1) -> !y1
  return %y : !y1
}

// The product sums "embed", which the other operand has for its own result.
// CHECK-LABEL: func.func @clash
// CHECK: %[[T:.*]] = titan.add
// CHECK: titan.contract %[[T]]
func.func @clash(%x: !x1 {titan.input = "x"}, %w: !w {titan.param = "w", titan.init = #titan.init<normal, [1.0]>}, %h: !y1 {titan.input = "h"})
    -> (!x1 {titan.output = "logits"}) attributes {titan.program = "clash"} {
  %p = titan.contract %x, %w : (!x1, !w) -> !y1
  %t = titan.add %h, %p : (!y1, !y1) -> !y1
  %y = titan.contract %t, %w : (!y1, !w) -> !x1
  return %y : !x1
}

// A sum with another use is computed anyway.
// CHECK-LABEL: func.func @shared
// CHECK: %[[T:.*]] = titan.add
// CHECK: titan.contract %{{.*}}, %[[T]]
func.func @shared(%x: !x1 {titan.input = "x"}, %w: !w {titan.param = "w", titan.init = #titan.init<normal, [1.0]>}, %a: !a {titan.param = "a", titan.init = #titan.init<normal, [1.0]>},
                  %b: !b {titan.param = "b", titan.init = #titan.init<normal, [1.0]>}) -> (!y1 {titan.output = "logits"}, !w {titan.output = "w"}) attributes {titan.program = "shared"} {
  %p = titan.contract %a, %b : (!a, !b) -> !w
  %t = titan.add %w, %p : (!w, !w) -> !w
  %y = titan.contract %x, %t : (!x1, !w) -> !y1
  return %y, %t : !y1, !w
}

// -----

!x = !titan.tensor<f32[seq = 2, embed = 16]>
!i = !titan.tensor<i64[seq = 2, slot = 2]>
!w = !titan.tensor<f32[experts = 3, embed = 16, ffn = 24]>
!a = !titan.tensor<f32[experts = 3, embed = 16, narrow = 2]>
!b = !titan.tensor<f32[experts = 3, narrow = 2, ffn = 24]>
!y = !titan.tensor<f32[seq = 2, slot = 2, ffn = 24]>

// Tables of grouped contractions.
// CHECK-LABEL: func.func @experts
// CHECK: titan.grouped_contract %{{.*}} along "experts" {{.*}} -> !titan.tensor<f32[seq = 2, slot = 2, ffn = 24]>
// CHECK: %[[N:.*]] = titan.grouped_contract %{{.*}} along "experts" {{.*}} -> !titan.tensor<f32[seq = 2, slot = 2, narrow = 2]>
// CHECK: titan.grouped_contract %[[N]], %{{.*}} along "experts"
// CHECK-NOT: titan.contract
func.func @experts(%x: !x {titan.input = "x"}, %i: !i {titan.input = "i", titan.drawn_below = 3}, %w: !w {titan.param = "w", titan.init = #titan.init<normal, [1.0]>},
                   %a: !a {titan.param = "a", titan.init = #titan.init<normal, [1.0]>}, %b: !b {titan.param = "b", titan.init = #titan.init<normal, [1.0]>})
    -> (!y {titan.output = "logits"}) attributes {titan.program = "experts"} {
  %p = titan.contract %a, %b : (!a, !b) -> !w
  %t = titan.add %w, %p : (!w, !w) -> !w
  %y = titan.grouped_contract %x, %t along "experts" at %i : (!x, !w, !i) -> !y
  return %y : !y
}
