// RUN: titan-opt %s --titan-split-turns --split-input-file | FileCheck %s

!t = !titan.tensor<f32[seq = 8]>
!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>

// Each loss becomes a train program, in the order of the losses. A turn freezes the parameters of other turns, has
// only its own loss, and erases inputs and parameters that the loss does not need. Buffers and scalars
// remain; an update still refers to the argument that it replaces.
// CHECK-LABEL: func.func @train.tell
// CHECK-SAME: (%[[REAL:[^:]*]]: !titan.tensor<f32[seq = 8]> {titan.input = "real"}
// CHECK-SAME: %[[G:[^:]*]]: !titan.tensor<f32[seq = 8]> {titan.frozen, titan.param = "g"}
// CHECK-SAME: %[[D:[^:]*]]: !titan.tensor<f32[seq = 8]> {titan.lr_scale = 1.000000e+00 : f64, titan.param = "d", titan.period = #titan.period<every = 2, offset = 0>, titan.updated_by = @sgd}
// CHECK-SAME: %[[COUNT:[^:]*]]: !titan.tensor<f32[]> {titan.buffer, titan.param = "count"}
// CHECK-SAME: !titan.tensor<i64[]> {titan.scalar = "step"})
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "loss.tell"}, !titan.tensor<f32[]> {titan.updates = 3 : i64})
// CHECK-SAME: titan.program = "train.tell", titan.turn = #titan.turn<due = [#titan.period<every = 2, offset = 0>], idle = []>
// CHECK: %[[TELL:.*]] = titan.reduce sum
// CHECK-NOT: titan.reduce
// CHECK: return %[[TELL]], %[[TELL]], %[[COUNT]]
// CHECK-LABEL: func.func @train.fool
// CHECK-SAME: (%{{[^:]*}}: !titan.tensor<f32[seq = 8]> {titan.lr_scale = 2.000000e+00 : f64, titan.param = "g", titan.period = #titan.period<every = 2, offset = 1>, titan.updated_by = @sgd}
// CHECK-SAME: %{{[^:]*}}: !titan.tensor<f32[seq = 8]> {titan.frozen, titan.param = "d"}
// CHECK-SAME: %[[COUNT:[^:]*]]: !titan.tensor<f32[]> {titan.buffer, titan.param = "count"}
// CHECK-SAME: !titan.tensor<i64[]> {titan.scalar = "step"})
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "loss.fool"}, !titan.tensor<f32[]> {titan.updates = 2 : i64})
// CHECK-SAME: titan.turn = #titan.turn<due = [#titan.period<every = 2, offset = 1>], idle = []>
// CHECK-NOT: func.func
func.func @train(%real: !t {titan.input = "real"},
                 %g: !t {titan.param = "g", titan.updated_by = @sgd, titan.lr_scale = 2.0 : f64, titan.losses = ["fool"],
                         titan.period = #titan.period<every = 2, offset = 1>},
                 %d: !t {titan.param = "d", titan.updated_by = @sgd, titan.lr_scale = 1.0 : f64, titan.losses = ["tell"],
                         titan.period = #titan.period<every = 2, offset = 0>},
                 %count: !s {titan.param = "count", titan.buffer}, %step: !i {titan.scalar = "step"})
    -> (!s {titan.output = "loss"}, !s {titan.output = "loss.tell"}, !s {titan.output = "loss.fool"}, !s {titan.updates = 3 : i64})
    attributes {titan.program = "train"} {
  %fake = titan.mul %g, %d : (!t, !t) -> !t
  %apart = titan.sub %real, %fake : (!t, !t) -> !t
  %tell = titan.reduce sum %apart : !t -> !s
  %fool = titan.reduce sum %fake : !t -> !s
  %loss = titan.add %tell, %fool : (!s, !s) -> !s
  return %loss, %tell, %fool, %count : !s, !s, !s, !s
}

// -----

!t = !titan.tensor<f32[seq = 8]>
!s = !titan.tensor<f32[]>

// Parameters of one loss with several periods: a turn for each set of them that is due in one step. The
// sum of losses is computed again; a parameter without losses minimises the sum of all losses, and its turn comes first.
// CHECK-LABEL: func.func @train.all
// CHECK-SAME: {titan.param = "a", titan.updated_by = @sgd}
// CHECK-SAME: {titan.frozen, titan.param = "b"}
// CHECK-SAME: {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "loss.x"}, !titan.tensor<f32[]> {titan.output = "loss.y"}, !titan.tensor<f32[]> {titan.output = "loss.z"}
// CHECK-SAME: titan.turn = #titan.turn<due = [#titan.period<every = 1, offset = 0>], idle = []>
// CHECK-LABEL: func.func @"train.x+z"
// CHECK-NOT: titan.param = "a"
// CHECK-SAME: {titan.param = "b", titan.period = #titan.period<every = 2, offset = 0>, titan.updated_by = @sgd}
// CHECK-SAME: {titan.param = "c", titan.period = #titan.period<every = 3, offset = 0>, titan.updated_by = @sgd}
// CHECK-SAME: {titan.output = "loss.x"}, !titan.tensor<f32[]> {titan.output = "loss.z"})
// CHECK-SAME: titan.turn = #titan.turn<due = [#titan.period<every = 2, offset = 0>, #titan.period<every = 3, offset = 0>], idle = []>
// CHECK: %[[X:.*]] = titan.reduce sum
// CHECK: %[[Z:.*]] = titan.reduce sum
// CHECK: %[[SUM:.*]] = titan.add %[[X]], %[[Z]]
// CHECK: return %[[SUM]], %[[X]], %[[Z]]
// CHECK-LABEL: func.func @"train.x+z.2"
// CHECK-SAME: {titan.frozen, titan.param = "c"}
// CHECK-SAME: titan.turn = #titan.turn<due = [#titan.period<every = 2, offset = 0>], idle = [#titan.period<every = 3, offset = 0>]>
// CHECK-LABEL: func.func @"train.x+z.3"
// CHECK-SAME: {titan.frozen, titan.param = "b"}
// CHECK-SAME: titan.turn = #titan.turn<due = [#titan.period<every = 3, offset = 0>], idle = [#titan.period<every = 2, offset = 0>]>
func.func @train(%a: !t {titan.param = "a", titan.updated_by = @sgd},
                 %b: !t {titan.param = "b", titan.updated_by = @sgd, titan.losses = ["x", "z"],
                         titan.period = #titan.period<every = 2, offset = 0>},
                 %c: !t {titan.param = "c", titan.updated_by = @sgd, titan.losses = ["x", "z"],
                         titan.period = #titan.period<every = 3, offset = 0>})
    -> (!s {titan.output = "loss"}, !s {titan.output = "loss.x"}, !s {titan.output = "loss.y"}, !s {titan.output = "loss.z"})
    attributes {titan.program = "train"} {
  %x = titan.reduce sum %b : !t -> !s
  %y = titan.reduce sum %a : !t -> !s
  %z = titan.reduce sum %c : !t -> !s
  %xy = titan.add %x, %y : (!s, !s) -> !s
  %loss = titan.add %xy, %z : (!s, !s) -> !s
  return %loss, %x, %y, %z : !s, !s, !s, !s
}

// -----

!s = !titan.tensor<f32[]>

// Without losses and periods there is one train program; other programs do not change.
// CHECK-LABEL: func.func @train(
// CHECK-SAME: titan.program = "train"}
// CHECK-LABEL: func.func @eval(
func.func @train(%w: !s {titan.param = "w", titan.updated_by = @sgd}) -> (!s {titan.output = "loss"})
    attributes {titan.program = "train"} {
  return %w : !s
}
func.func @eval(%w: !s {titan.param = "w"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "eval"} {
  return %w : !s
}
