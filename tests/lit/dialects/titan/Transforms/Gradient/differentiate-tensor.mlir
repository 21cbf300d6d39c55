// RUN: titan-opt %s --titan-differentiate --split-input-file | FileCheck %s

// Each case weights the result by a frozen %w, so that the result's cotangent is %w.

!x = !titan.tensor<f64[seq = 3, in = 4]>
!w = !titan.tensor<f64[in = 4, mid = 5]>
!v = !titan.tensor<f64[mid = 5, out = 2]>
!h = !titan.tensor<f64[seq = 3, mid = 5]>
!y = !titan.tensor<f64[seq = 3, out = 2]>
!s = !titan.tensor<f64[]>

// The gradients of a contraction are two contractions: wgrad for parameters, otherwise dgrad. The
// frozen input needs none.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: {{[^:]*}} {titan.frozen, titan.param = "x"}, %{{[^:]*}}: {{[^:]*}}, %[[V:[^:]*]]: {{[^:]*}} {titan.param = "v"}, %[[C:[^:]*]]:
// CHECK: %[[H:.*]] = titan.contract %[[X]]
// CHECK: %[[DH:.*]] = titan.contract %[[C]], %[[V]] {titan.grad_kind = "dgrad"} {{.*}} -> !titan.tensor<f64[seq = 3, mid = 5]>
// CHECK-NEXT: %[[DV:.*]] = titan.contract %[[H]], %[[C]] {titan.grad_kind = "wgrad"} {{.*}} -> !titan.tensor<f64[mid = 5, out = 2]>
// CHECK-NEXT: %[[DW:.*]] = titan.contract %[[X]], %[[DH]] {titan.grad_kind = "wgrad"} {{.*}} -> !titan.tensor<f64[in = 4, mid = 5]>
// CHECK-NEXT: return %{{.*}}, %[[DW]], %[[DV]]
func.func @train(%x: !x {titan.param = "x", titan.frozen}, %w: !w {titan.param = "w"}, %v: !v {titan.param = "v"},
                 %c: !y {titan.param = "c", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %h = titan.contract %x, %w : (!x, !w) -> !h
  %y = titan.contract %h, %v : (!h, !v) -> !y
  %q = titan.mul %y, %c : (!y, !y) -> !y
  %loss = titan.reduce sum %q : !y -> !s
  return %loss : !s
}

// -----

!q = !titan.tensor<f64[heads = 2, seq = 3, head = 4]>
!k = !titan.tensor<f64[heads = 2, keys = 3 of seq, head = 4]>
!m = !titan.tensor<f64[heads = 2, seq = 3, keys = 3 of seq]>
!s = !titan.tensor<f64[]>

// Dimensions of both operands and the result stay batched in the gradients. A renamed parameter is
// a parameter.
// CHECK-LABEL: func.func @train
// CHECK: titan.contract {{.*}} {titan.grad_kind = "wgrad"} {{.*}} -> !titan.tensor<f64[heads = 2, seq = 3, head = 4]>
// CHECK: %[[DK:.*]] = titan.contract {{.*}} {titan.grad_kind = "wgrad"} {{.*}} -> !titan.tensor<f64[heads = 2, keys = 3 of seq, head = 4]>
// CHECK: titan.rename %[[DK]] : <f64[heads = 2, keys = 3 of seq, head = 4]> -> <f64[heads = 2, seq = 3, head = 4]>
func.func @train(%q: !q {titan.param = "q"}, %k0: !q {titan.param = "k"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  %k = titan.rename %k0 : !q -> !k
  %m = titan.contract %q, %k : (!q, !k) -> !m
  %e = titan.exp %m : !m -> !m
  %loss = titan.reduce sum %e : !m -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!s = !titan.tensor<f64[]>

// An operand with two uses receives the sum of both contributions.
// CHECK-LABEL: func.func @train
// CHECK-COUNT-2: titan.contract {{.*}} {titan.grad_kind = "wgrad"}
// CHECK: titan.add
func.func @train(%x: !t {titan.param = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %m = titan.contract %x, %x : (!t, !t) -> !titan.tensor<f64[seq = 3]>
  %e = titan.exp %m : !titan.tensor<f64[seq = 3]> -> !titan.tensor<f64[seq = 3]>
  %loss = titan.reduce sum %e : !titan.tensor<f64[seq = 3]> -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!s = !titan.tensor<f64[]>

// The cotangent of a sharding constraint is a sharding constraint with the same name.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[W:[^:]*]]: {{[^:]*}} {titan.frozen
// CHECK: %[[D:.*]] = titan.sharding_constraint %[[W]] {titan.name = "y"}
// CHECK: return %{{.*}}, %[[D]]
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.sharding_constraint %x {titan.name = "y"} : !t -> !t
  %q = titan.mul %y, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!s = !titan.tensor<f64[]>

// stop_gradient leaves the gradient of the other use, and is removed from every function.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]:
// CHECK: titan.mul %[[X]], %[[X]]
// CHECK-NOT: titan.mul
// CHECK: return %{{.*}}, %[[X]]
// CHECK-LABEL: func.func @logits
// CHECK-NOT: titan.stop_gradient
func.func @train(%x: !t {titan.param = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %z = titan.stop_gradient %x : !t -> !t
  %y = titan.mul %x, %z : (!t, !t) -> !t
  %loss = titan.reduce sum %y : !t -> !s
  return %loss : !s
}
func.func @logits(%x: !t {titan.param = "x"}) -> (!t {titan.output = "logits"}) attributes {titan.program = "logits"} {
  %z = titan.stop_gradient %x : !t -> !t
  return %z : !t
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// A sum expands its cotangent.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[W:[^:]*]]: {{[^:]*}} {titan.frozen
// CHECK: %[[D:.*]] = titan.expand %[[W]] : <f64[seq = 3]> -> <f64[seq = 3, embed = 2]>
// CHECK: return %{{.*}}, %[[D]]
func.func @train(%x: !t {titan.param = "x"}, %w: !row {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.reduce sum %x : !t -> !row
  %q = titan.mul %y, %w : (!row, !row) -> !row
  %loss = titan.reduce sum %q : !row -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// The maximal elements share the cotangent equally.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: {{[^:]*}} {titan.param = "x"}, %[[W:[^:]*]]:
// CHECK: %[[Y:.*]] = titan.reduce max
// CHECK: %[[MASK:.*]] = titan.compare eq, %[[X]], %[[Y]]
// CHECK: %[[ONES:.*]] = titan.cast %[[MASK]]
// CHECK: %[[COUNT:.*]] = titan.reduce sum %[[ONES]]
// CHECK: %[[SHARE:.*]] = titan.div %[[W]], %[[COUNT]]
// CHECK: %[[D:.*]] = titan.select %[[MASK]], %[[SHARE]],
// CHECK: return %{{.*}}, %[[D]]
func.func @train(%x: !t {titan.param = "x"}, %w: !row {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.reduce max %x : !t -> !row
  %q = titan.mul %y, %w : (!row, !row) -> !row
  %loss = titan.reduce sum %q : !row -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 2]>
!row = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// So do minimal elements; here every element occurs twice.
// CHECK-LABEL: func.func @train
// CHECK: titan.reduce min
// CHECK: titan.compare eq
func.func @train(%x: !row {titan.param = "x"}, %w: !s {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %t = titan.expand %x : !row -> !t
  %y = titan.reduce min %t : !t -> !s
  %loss = titan.mul %y, %w : (!s, !s) -> !s
  return %loss : !s
}

// -----

!table = !titan.tensor<f64[vocab = 4, embed = 2]>
!ids = !titan.tensor<i64[batch = 2, seq = 3]>
!x = !titan.tensor<f64[batch = 2, seq = 3, embed = 2]>
!s = !titan.tensor<f64[]>

// The gradient of a gather is a scatter that adds repeated rows.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[I:[^:]*]]: {{[^:]*}} {titan.input = "tokens"}, %{{[^:]*}}: {{[^:]*}}, %[[W:[^:]*]]:
// CHECK: %[[D:.*]] = titan.scatter %[[W]] along "vocab" at %[[I]]
// CHECK: return %{{.*}}, %[[D]]
func.func @train(%i: !ids {titan.input = "tokens"}, %t: !table {titan.param = "table"}, %w: !x {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %x = titan.gather %t along "vocab" at %i : (!table, !ids) -> !x
  %q = titan.mul %x, %w : (!x, !x) -> !x
  %loss = titan.reduce sum %q : !x -> !s
  return %loss : !s
}

// -----

!scores = !titan.tensor<f64[batch = 2, seq = 3, vocab = 4]>
!ids = !titan.tensor<i64[batch = 2, seq = 3]>
!row = !titan.tensor<f64[batch = 2, seq = 3]>
!s = !titan.tensor<f64[]>

// Dimensions common to operand and indices are batched, also in the gradient.
// CHECK-LABEL: func.func @train
// CHECK: titan.scatter {{.*}} along "vocab" at {{.*}} -> !titan.tensor<f64[batch = 2, seq = 3, vocab = 4]>
func.func @train(%i: !ids {titan.input = "labels"}, %x: !scores {titan.param = "x"}, %w: !row {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.gather %x along "vocab" at %i : (!scores, !ids) -> !row
  %q = titan.mul %y, %w : (!row, !row) -> !row
  %loss = titan.reduce sum %q : !row -> !s
  return %loss : !s
}

// -----

!table = !titan.tensor<f64[vocab = 4, embed = 2]>
!ids = !titan.tensor<i64[batch = 2, seq = 3]>
!x = !titan.tensor<f64[batch = 2, embed = 2]>
!s = !titan.tensor<f64[]>

// The gradient of a scatter is a gather; updates expanded along `seq` receive the sum over it.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[I:[^:]*]]: {{[^:]*}} {titan.input = "tokens"}, %{{[^:]*}}: {{[^:]*}}, %[[W:[^:]*]]:
// CHECK: %[[T:.*]] = titan.gather %[[W]] along "vocab" at %[[I]] {{.*}} -> !titan.tensor<f64[embed = 2, batch = 2, seq = 3]>
// CHECK: titan.reduce sum %[[T]] : {{.*}} -> <f64[batch = 2, embed = 2]>
func.func @train(%i: !ids {titan.input = "tokens"}, %x: !x {titan.param = "x"}, %w: !table {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %t = titan.scatter %x along "vocab" at %i : (!x, !ids) -> !table
  %q = titan.mul %t, %w : (!table, !table) -> !table
  %loss = titan.reduce sum %q : !table -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3, embed = 6]>
!u = !titan.tensor<f64[seq = 3, heads = 2, head = 3]>
!s = !titan.tensor<f64[]>

// Split and merge are each other's gradient.
// CHECK-LABEL: func.func @train
// CHECK: titan.split %{{.*}} dim "embed"
// CHECK: titan.merge %{{.*}} dim "embed"
// CHECK: %[[DM:.*]] = titan.split %{{.*}} dim "embed"
// CHECK: %[[DE:.*]] = titan.mul %[[DM]],
// CHECK: titan.merge %[[DE]] dim "embed"
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.split %x dim "embed" : !t -> !u
  %e = titan.exp %y : !u -> !u
  %z = titan.merge %e dim "embed" : !u -> !t
  %q = titan.mul %z, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 5]>
!u = !titan.tensor<f64[part = 2 of seq]>
!s = !titan.tensor<f64[]>

// Slice and pad are each other's gradient.
// CHECK-LABEL: func.func @train
// CHECK: titan.slice %{{.*}} dim "seq" from 1
// CHECK: titan.pad %{{.*}} dim "seq" from 2
// CHECK: %[[DP:.*]] = titan.slice %{{.*}} dim "seq" from 2
// CHECK: %[[DE:.*]] = titan.mul %[[DP]],
// CHECK: titan.pad %[[DE]] dim "seq" from 1
func.func @train(%x: !t {titan.param = "x"}, %w: !t {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.slice %x dim "seq" from 1 : !t -> !u
  %e = titan.exp %y : !u -> !u
  %z = titan.pad %e dim "seq" from 2 : !u -> !t
  %q = titan.mul %z, %w : (!t, !t) -> !t
  %loss = titan.reduce sum %q : !t -> !s
  return %loss : !s
}

// -----

!x = !titan.tensor<f64[seq = 3, in = 4]>
!w = !titan.tensor<f64[experts = 5, in = 4, out = 2]>
!y = !titan.tensor<f64[seq = 3, slot = 2, out = 2]>
!i = !titan.tensor<i64[seq = 3, slot = 2]>
!s = !titan.tensor<f64[]>

// The gradients of a grouped contraction are grouped contractions over the same indices. The rows
// were used once per slot, so their cotangent is a sum, which is no second operation.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: {{[^:]*}} {titan.param = "x"}, %[[W:[^:]*]]: {{[^:]*}} {titan.param = "w"}, %[[C:[^:]*]]: {{[^:]*}} {titan.frozen, titan.param = "c"}, %[[I:[^:]*]]:
// CHECK: %[[DX:.*]] = titan.grouped_contract %[[C]], %[[W]] along "experts" at %[[I]] {titan.grad_kind = "wgrad"} {{.*}} -> !titan.tensor<f64[seq = 3, in = 4]>
// CHECK-NOT: titan.reduce
// CHECK: %[[DW:.*]] = titan.grouped_contract %[[X]], %[[C]] along "experts" at %[[I]] {titan.grad_kind = "wgrad"} {{.*}} -> !titan.tensor<f64[experts = 5, in = 4, out = 2]>
// CHECK: return %{{.*}}, %[[DX]], %[[DW]]
func.func @train(%x: !x {titan.param = "x"}, %w: !w {titan.param = "w"}, %c: !y {titan.param = "c", titan.frozen}, %i: !i {titan.input = "i"})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.grouped_contract %x, %w along "experts" at %i : (!x, !w, !i) -> !y
  %q = titan.mul %y, %c : (!y, !y) -> !y
  %loss = titan.reduce sum %q : !y -> !s
  return %loss : !s
}
