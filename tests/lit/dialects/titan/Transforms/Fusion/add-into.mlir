// RUN: titan-opt --titan-add-into %s | FileCheck %s

!table = !titan.tensor<f32[vocab = 16, embed = 4]>
!rows = !titan.tensor<f32[seq = 8, embed = 4]>
!tokens = !titan.tensor<i64[seq = 8]>
!hot = !titan.tensor<f32[seq = 8, vocab = 16]>
!labels = !titan.tensor<f32[seq = 8]>

// The scatter accumulates into the other gradient, for both operand orders.
// CHECK-LABEL: func.func @joins(
// CHECK-SAME: %[[G:[a-z0-9]*]]: {{[^%]*}}%[[U:[a-z0-9]*]]: {{[^%]*}}%[[T:[a-z0-9]*]]:
// CHECK-NEXT: %[[A:.*]] = titan.scatter %[[U]] along "vocab" at %[[T]] into %[[G]] :
// CHECK-NEXT: %[[B:.*]] = titan.scatter %[[U]] along "vocab" at %[[T]] into %[[A]] :
// CHECK-NEXT: return %[[B]]
func.func @joins(%g: !table, %u: !rows, %t: !tokens) -> !table {
  %p = titan.scatter %u along "vocab" at %t : (!rows, !tokens) -> !table
  %a = titan.add %g, %p : (!table, !table) -> !table
  %q = titan.scatter %u along "vocab" at %t : (!rows, !tokens) -> !table
  %b = titan.add %q, %a : (!table, !table) -> !table
  return %b : !table
}

// A scatter with other uses does not change, and neither does a one-hot scatter, which is fused with elementwise
// operations.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT: into
func.func @stays(%g: !table, %u: !rows, %t: !tokens, %h: !hot, %l: !labels) -> (!table, !table, !hot) {
  %p = titan.scatter %u along "vocab" at %t : (!rows, !tokens) -> !table
  %a = titan.add %g, %p : (!table, !table) -> !table
  %o = titan.scatter %l along "vocab" at %t : (!labels, !tokens) -> !hot
  %b = titan.add %h, %o : (!hot, !hot) -> !hot
  return %a, %p, %b : !table, !table, !hot
}

!x = !titan.tensor<f32[seq = 8, embed = 4]>
!y = !titan.tensor<f32[seq = 8, vocab = 16]>
!w = !titan.tensor<f32[embed = 4, vocab = 16]>
!xs = !titan.tensor<f32[parts = 2, seq = 8, embed = 4]>
!ys = !titan.tensor<f32[parts = 2, seq = 8, vocab = 16]>

// A contraction accumulates into an iteration argument.
// CHECK-LABEL: func.func @adds_up(
// CHECK: ^bb0(%{{.*}}: {{.*}}, %[[SUM:.*]]: !titan.tensor<f32[embed = 4, vocab = 16]>, %[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}}):
// CHECK-NEXT: %[[NEXT:.*]] = titan.contract %[[X]], %[[Y]] into %[[SUM]] {titan.grad_kind = "wgrad"}
// CHECK-NEXT: titan.yield %[[NEXT]]
func.func @adds_up(%zero: !w, %xs: !xs, %ys: !ys) -> !w {
  %sum = titan.repeat <parts = 2> iter_args(%zero) scanned(%xs, %ys) : (!w, !xs, !ys) -> !w {
  ^bb0(%p: !titan.tensor<i64[]>, %s: !w, %x: !x, %y: !y):
    %term = titan.contract %x, %y {titan.grad_kind = "wgrad"} : (!x, !y) -> !w
    %next = titan.add %s, %term : (!w, !w) -> !w
    titan.yield %next : !w
  }
  return %sum : !w
}

// If the other operand has further uses, the contraction does not change: it would need a copy.
// CHECK-LABEL: func.func @adds_to_what_is_kept(
// CHECK-NOT: into
func.func @adds_to_what_is_kept(%w: !w, %x: !x, %y: !y) -> (!w, !w) {
  %term = titan.contract %x, %y : (!x, !y) -> !w
  %next = titan.add %w, %term : (!w, !w) -> !w
  return %next, %w : !w, !w
}
