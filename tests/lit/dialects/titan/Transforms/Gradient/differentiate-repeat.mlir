// RUN: titan-opt %s --titan-differentiate --split-input-file | FileCheck %s

!t = !titan.tensor<f64[seq = 3]>
!ws = !titan.tensor<f64[layers = 2, seq = 3]>
!s = !titan.tensor<f64[]>

// The forward stacks the iteration argument of each layer. The backward scans the parameter and
// stacks the parameter's gradient.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: {{[^:]*}} {titan.param = "x"}, %[[W:[^:]*]]:
// CHECK: %[[F:.*]]:2 = titan.repeat <layers = 2> iter_args(%[[X]]) scanned(%[[W]])
// CHECK-SAME: -> (!titan.tensor<f64[seq = 3]>, !titan.tensor<f64[layers = 2, seq = 3]>)
// CHECK: ^bb0(%{{[^:]*}}: !titan.tensor<i64[]>, %[[C:[^:]*]]:
// CHECK: titan.yield %{{.*}}, %[[C]] :
// CHECK: %[[DY:.*]] = titan.sharding_constraint
// CHECK: %[[B:.*]]:2 = titan.repeat <layers = 2> reverse iter_args(%[[DY]]) scanned(%[[W]], %[[F]]#1)
// CHECK: ^bb0(%{{[^:]*}}: !titan.tensor<i64[]>, %[[DC:[^:]*]]: {{[^:]*}}, %[[WL:[^:]*]]: {{[^:]*}}, %[[CL:[^:]*]]:
// CHECK-DAG: %[[DX:.*]] = titan.mul %[[DC]], %[[WL]]
// CHECK-DAG: %[[DW:.*]] = titan.mul %[[DC]], %[[CL]]
// CHECK: %[[NEXT:.*]] = titan.sharding_constraint %[[DX]]
// CHECK: titan.yield %[[NEXT]], %[[DW]] :
// CHECK: return %{{.*}}, %[[B]]#0, %[[B]]#1 :
func.func @train(%x: !t {titan.param = "x"}, %w: !ws {titan.param = "w", titan.stacked})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 2> iter_args(%x) scanned(%w) : (!t, !ws) -> !t {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %wl: !t):
    %n = titan.mul %c, %wl : (!t, !t) -> !t
    titan.yield %n : !t
  }
  %loss = titan.reduce sum %y : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!ws = !titan.tensor<f64[layers = 2, seq = 3]>
!s = !titan.tensor<f64[]>

// Captures (a parameter, and a value computed from it) get sums, which are iteration arguments of
// the backward. The backward also captures their values if it needs them.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: {{[^:]*}} {titan.param = "x"}, %[[SHARED:[^:]*]]:
// CHECK: %[[ZERO:.*]] = titan.constant 0.0
// CHECK: %[[E:.*]] = titan.exp %[[SHARED]]
// CHECK: %[[START:.*]] = titan.expand %[[ZERO]]
// CHECK: %[[B:.*]]:3 = titan.repeat <layers = 2> reverse iter_args(%{{[^,]*}}, %[[START]], %[[START]])
// CHECK: ^bb0(%{{[^:]*}}: !titan.tensor<i64[]>, %{{[^:]*}}: {{[^:]*}}, %[[SUM0:[^:]*]]: {{[^:]*}}, %[[SUM1:[^:]*]]:
// CHECK: titan.mul %{{.*}}, %[[E]]
// CHECK-DAG: %[[NEXT0:.*]] = titan.add %[[SUM0]],
// CHECK-DAG: %[[NEXT1:.*]] = titan.add %[[SUM1]],
// CHECK: titan.yield %{{[^,]*}}, %[[NEXT0]], %[[NEXT1]] :
func.func @train(%x: !t {titan.param = "x"}, %shared: !t {titan.param = "shared"}, %w: !ws {titan.param = "w", titan.frozen})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %e = titan.exp %shared : !t -> !t
  %y = titan.repeat <layers = 2> iter_args(%x) scanned(%w) : (!t, !ws) -> !t {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %wl: !t):
    %0 = titan.mul %c, %e : (!t, !t) -> !t
    %1 = titan.add %0, %wl : (!t, !t) -> !t
    %n = titan.add %1, %shared : (!t, !t) -> !t
    titan.yield %n : !t
  }
  %loss = titan.reduce sum %y : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!ws = !titan.tensor<f64[layers = 3, seq = 3]>
!s = !titan.tensor<f64[]>

// Of four iteration arguments, %a and %b are exchanged, so both get cotangents though only the
// first is used. %n is an integer and %free reaches no result: they get none.
// CHECK-LABEL: func.func @train
// CHECK: titan.repeat <layers = 3> reverse iter_args(%{{[^,]*}}, %{{[^,]*}}) scanned(
// CHECK: return
func.func @train(%x: !t {titan.param = "x"}, %z: !t {titan.param = "z"}, %w: !ws {titan.param = "w", titan.stacked})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %start = titan.constant 0 : !titan.tensor<i64[]>
  %y:4 = titan.repeat <layers = 3> iter_args(%x, %z, %start, %z) scanned(%w)
      : (!t, !t, !titan.tensor<i64[]>, !t, !ws) -> (!t, !t, !titan.tensor<i64[]>, !t) {
  ^bb0(%l: !titan.tensor<i64[]>, %a: !t, %b: !t, %n: !titan.tensor<i64[]>, %free: !t, %wl: !t):
    %0 = titan.mul %a, %wl : (!t, !t) -> !t
    %scale = titan.cast %n : !titan.tensor<i64[]> -> !s
    %1 = titan.mul %0, %scale : (!t, !s) -> !t
    %2 = titan.add %1, %b : (!t, !t) -> !t
    %m = titan.add %n, %l : (!titan.tensor<i64[]>, !titan.tensor<i64[]>) -> !titan.tensor<i64[]>
    %f = titan.mul %free, %a : (!t, !t) -> !t
    titan.yield %b, %2, %m, %f : !t, !t, !titan.tensor<i64[]>, !t
  }
  %loss = titan.reduce sum %y#0 : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!ws = !titan.tensor<f64[layers = 3, seq = 3]>
!s = !titan.tensor<f64[]>

// The backward scans the cotangent of a stacked output; the backward of a reversed repeat runs
// forward.
// CHECK-LABEL: func.func @train
// CHECK: %[[F:.*]]:3 = titan.repeat <layers = 3> reverse
// CHECK: %[[DH:.*]] = titan.mul %[[F]]#1,
// CHECK: titan.repeat <layers = 3> iter_args(%{{.*}}) scanned(%{{.*}}, %{{.*}}, %[[F]]#2)
func.func @train(%x: !t {titan.param = "x"}, %w: !ws {titan.param = "w", titan.stacked})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y, %hs = titan.repeat <layers = 3> reverse iter_args(%x) scanned(%w) : (!t, !ws) -> (!t, !ws) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %wl: !t):
    %n = titan.mul %c, %wl : (!t, !t) -> !t
    %h = titan.sigmoid %n : !t -> !t
    titan.yield %n, %h : !t, !t
  }
  %0 = titan.mul %hs, %hs : (!ws, !ws) -> !ws
  %1 = titan.add %0, %y : (!ws, !t) -> !ws
  %loss = titan.reduce sum %1 : !ws -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!ws = !titan.tensor<f64[blocks = 2, layers = 3, seq = 3]>
!bs = !titan.tensor<f64[blocks = 2, seq = 3]>
!ls = !titan.tensor<f64[layers = 3, seq = 3]>
!s = !titan.tensor<f64[]>

// A nested repeat: the outer one stacks the stacked residuals of the inner one. The inner body
// captures %b from the outer one and %g from the function.
// CHECK-LABEL: func.func @train
// CHECK: titan.repeat <blocks = 2> iter_args
// CHECK-SAME: !titan.tensor<f64[blocks = 2, layers = 3, seq = 3]>)
// CHECK: titan.repeat <layers = 3> iter_args
// CHECK-SAME: -> (!titan.tensor<f64[seq = 3]>, !titan.tensor<f64[layers = 3, seq = 3]>)
// CHECK: titan.repeat <blocks = 2> reverse iter_args
// CHECK: titan.repeat <layers = 3> reverse iter_args
func.func @train(%x: !t {titan.param = "x"}, %g: !t {titan.param = "g"}, %b: !bs {titan.param = "b", titan.stacked}, %w: !ws {titan.param = "w", titan.stacked})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.repeat <blocks = 2> iter_args(%x) scanned(%w, %b) : (!t, !ws, !bs) -> !t {
  ^bb0(%k: !titan.tensor<i64[]>, %c: !t, %wk: !ls, %bk: !t):
    %e = titan.tanh %bk : !t -> !t
    %z = titan.repeat <layers = 3> iter_args(%c) scanned(%wk) : (!t, !ls) -> !t {
    ^bb0(%l: !titan.tensor<i64[]>, %d: !t, %wl: !t):
      %0 = titan.mul %d, %wl : (!t, !t) -> !t
      %1 = titan.mul %0, %e : (!t, !t) -> !t
      %2 = titan.add %1, %g : (!t, !t) -> !t
      %n = titan.sigmoid %2 : !t -> !t
      titan.yield %n : !t
    }
    %r = titan.mul %z, %c : (!t, !t) -> !t
    titan.yield %r : !t
  }
  %loss = titan.reduce sum %y : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 4]>
!u = !titan.tensor<f64[pair = 2, two = 2]>
!ws = !titan.tensor<f64[layers = 2, seq = 4]>
!vs = !titan.tensor<f64[layers = 2, seq = 4, seq2 = 4 of seq]>
!v = !titan.tensor<f64[seq = 4, seq2 = 4 of seq]>
!s = !titan.tensor<f64[]>

// Stacked: the contraction's sharding constraint (instead of its operand or a view of it) and the iteration
// argument. Not stacked: the constant, the index, the elementwise chain after the constraint.
// CHECK-LABEL: func.func @train
// CHECK: %[[F:.*]]:3 = titan.repeat
// CHECK: ^bb0(%{{[^:]*}}: !titan.tensor<i64[]>, %[[C:[^:]*]]:
// CHECK: %[[H:.*]] = titan.sharding_constraint
// CHECK: titan.yield %{{[^,]*}}, %[[H]], %[[C]] :
// CHECK: titan.repeat <layers = 2> reverse
// CHECK: ^bb0(%[[L:[^:]*]]: !titan.tensor<i64[]>,
// CHECK-DAG: titan.cast %[[L]]
// CHECK-DAG: titan.split
// CHECK-DAG: titan.tanh
// CHECK-DAG: titan.constant 2.0
func.func @train(%x: !t {titan.param = "x"}, %v: !vs {titan.param = "v", titan.stacked})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 2> iter_args(%x) scanned(%v) : (!t, !vs) -> !t {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %vl: !v):
    %0 = titan.contract %c, %vl : (!t, !v) -> !titan.tensor<f64[seq2 = 4 of seq]>
    %1 = titan.rename %0 : !titan.tensor<f64[seq2 = 4 of seq]> -> !t
    %h = titan.sharding_constraint %1 : !t -> !t
    %2 = titan.split %h dim "seq" : !t -> !u
    %3 = titan.tanh %2 : !u -> !u
    %depth = titan.cast %l : !titan.tensor<i64[]> -> !s
    %two = titan.constant 2.0 : !s
    %scale = titan.add %depth, %two : (!s, !s) -> !s
    %4 = titan.mul %3, %scale : (!u, !s) -> !u
    %5 = titan.mul %4, %2 : (!u, !u) -> !u
    %6 = titan.merge %5 dim "seq" : !u -> !t
    %n = titan.add %c, %6 : (!t, !t) -> !t
    titan.yield %n : !t
  }
  %loss = titan.reduce sum %y : !t -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!ws = !titan.tensor<f64[layers = 2, seq = 3]>
!s = !titan.tensor<f64[]>

// A result of the forward can be a cotangent: of a parameter, of another result, of a stacked
// output. All are updated when a repeat with residuals replaces the forward.
// CHECK-LABEL: func.func @train
// CHECK: %[[F:.*]]:4 = titan.repeat <layers = 2> iter_args
// CHECK: titan.repeat <layers = 2> reverse {{.*}} scanned(%[[F]]#2, %[[F]]#1, %{{.*}}, %[[F]]#3)
// CHECK: return
func.func @train(%x: !t {titan.param = "x"}, %p: !t {titan.param = "p"}, %w: !ws {titan.param = "w", titan.stacked})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y, %h0, %h1 = titan.repeat <layers = 2> iter_args(%x) scanned(%w) : (!t, !ws) -> (!t, !ws, !ws) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %wl: !t):
    %n = titan.mul %c, %wl : (!t, !t) -> !t
    %a = titan.tanh %wl : !t -> !t
    titan.yield %n, %n, %a : !t, !t, !t
  }
  %0 = titan.mul %h0, %h1 : (!ws, !ws) -> !ws
  %1 = titan.reduce sum %0 : !ws -> !s
  %2 = titan.mul %y, %p : (!t, !t) -> !t
  %3 = titan.reduce sum %2 : !t -> !s
  %loss = titan.add %1, %3 : (!s, !s) -> !s
  return %loss : !s
}

// -----

!t = !titan.tensor<f64[seq = 3]>
!s = !titan.tensor<f64[]>

// Iteration arguments that do not influence a result are removed, such as an auxiliary loss of weight 0.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]:
// CHECK: titan.repeat <layers = 2> iter_args(%[[X]]) scanned()
// CHECK-NOT: titan.reduce max
// CHECK: return
func.func @train(%x: !t {titan.param = "x"}, %zero: !s {titan.input = "zero"}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  %y:2 = titan.repeat <layers = 2> iter_args(%x, %zero) scanned() : (!t, !s) -> (!t, !s) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %sum: !s):
    %n = titan.mul %c, %c : (!t, !t) -> !t
    %most = titan.reduce max %n : !t -> !s
    %next = titan.add %sum, %most : (!s, !s) -> !s
    titan.yield %n, %next : !t, !s
  }
  %loss = titan.reduce sum %y#0 : !t -> !s
  return %loss : !s
}
