// RUN: titan-opt %s --titan-add-optimizer --split-input-file | FileCheck %s

!t = !titan.tensor<f32[seq = 8]>
!u = !titan.tensor<f32[layers = 2, seq = 8]>
!s = !titan.tensor<f32[]>

// States and scalars become arguments, in the order of the parameters; new values become results with
// the index of the argument that they replace. A frozen parameter has neither. The norm is that of all gradients
// together, and the results contain the gradients before clipping. An elementwise
// optimizer becomes one function of scalars, which applies to parameters of any dimensions.
// CHECK-NOT: func.func private
// CHECK: titan.scalar_function @momentum.update {
// CHECK-NEXT: ^bb0(%[[P:.*]]: !titan.tensor<f32[]>, %[[G:.*]]: !titan.tensor<f32[]>, %[[M:.*]]: !titan.tensor<f32[]>, %[[RATE:.*]]: !titan.tensor<f32[]>, %[[FACTOR:.*]]: !titan.tensor<f32[]>):
// CHECK: %[[SCALED:.*]] = titan.mul %[[G]], %[[FACTOR]]
// CHECK: %[[MOVED:.*]] = titan.add %[[M]], %[[SCALED]] : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
// CHECK: %[[STEP:.*]] = titan.mul %[[RATE]], %[[MOVED]]
// CHECK: %[[NEXT:.*]] = titan.sub %[[P]], %[[STEP]]
// CHECK: titan.yield %[[NEXT]], %[[MOVED]]
// CHECK-NOT: titan.scalar_function
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[A:[^:]*]]: !titan.tensor<f32[seq = 8]> {titan.param = "a"}
// CHECK-SAME: %{{[^:]*}}: {{[^:]*}} {titan.frozen, titan.param = "f"}
// CHECK-SAME: %[[B:[^:]*]]: !titan.tensor<f32[layers = 2, seq = 8]> {titan.lr_scale = 2.5{{0*}}e-01 : f64, titan.param = "b", titan.stacked}
// CHECK-SAME: %[[MA:[^:]*]]: !titan.tensor<f32[seq = 8]> {titan.state = "m.a"}
// CHECK-SAME: %[[MB:[^:]*]]: !titan.tensor<f32[layers = 2, seq = 8]> {titan.stacked, titan.state = "m.b"}
// CHECK-SAME: %[[LR:[^:]*]]: !titan.tensor<f32[]> {titan.scalar = "lr"}
// CHECK-SAME: %[[STEP:[^:]*]]: !titan.tensor<f32[]> {titan.scalar = "step"})
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "loss"}, !titan.tensor<f32[]> {titan.output = "grad_norm"},
// CHECK-SAME: {titan.gradient = "a"}, !titan.tensor<f32[layers = 2, seq = 8]> {titan.gradient = "b", titan.stacked},
// CHECK-SAME: {titan.updates = 0 : i64}, {{[^{]*}}{titan.updates = 3 : i64},
// CHECK-SAME: {titan.stacked, titan.updates = 2 : i64}, {{[^{]*}}{titan.stacked, titan.updates = 4 : i64})
// CHECK: %[[DA:.*]] = titan.exp
// CHECK: %[[DB:.*]] = titan.tanh
// CHECK: %[[QA:.*]] = titan.contract %[[DA]], %[[DA]] : {{.*}} -> !titan.tensor<f32[]>
// CHECK: %[[QB:.*]] = titan.contract %[[DB]], %[[DB]] : {{.*}} -> !titan.tensor<f32[]>
// CHECK: %[[Q:.*]] = titan.add %[[QA]], %[[QB]]
// CHECK: %[[NORM:.*]] = titan.sqrt %[[Q]]
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK: %[[TINY:.*]] = titan.constant 9.9999999999999995E-7
// CHECK: %[[SUM:.*]] = titan.add %[[NORM]], %[[TINY]]
// CHECK: %[[CLIP:.*]] = titan.constant 2.5
// CHECK: %[[RATIO:.*]] = titan.div %[[CLIP]], %[[SUM]]
// CHECK: %[[SCALE:.*]] = titan.minimum %[[ONE]], %[[RATIO]]
// CHECK: %new_a, %{{.*}} = titan.apply @momentum.update(%[[A]], %[[DA]], %[[MA]], %[[LR]], %[[SCALE]])
// CHECK: %[[QUARTER:.*]] = titan.constant 2.5{{0*}}e-01
// CHECK: %[[SLOWER:.*]] = titan.mul %[[LR]], %[[QUARTER]]
// CHECK: %new_b, %{{.*}} = titan.apply @momentum.update(%[[B]], %[[DB]], %[[MB]], %[[SLOWER]], %[[SCALE]])
// CHECK: return %[[LOSS:.*]], %[[NORM]], %[[LOSS]], %[[DA]], %[[DB]], %new_a,
func.func private @momentum(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"},
                            %lr: !s {titan.scalar = "lr"}, %m: !t {titan.state = "m"})
    -> (!t {titan.updates = 0 : i64}, !t {titan.updates = 3 : i64}) attributes {titan.optimizer} {
  %m1 = titan.add %m, %g : (!t, !t) -> !t
  %d = titan.mul %lr, %m1 : (!s, !t) -> !t
  %p1 = titan.sub %p, %d : (!t, !t) -> !t
  return %p1, %m1 : !t, !t
}
func.func @train(%a: !t {titan.param = "a", titan.updated_by = @momentum}, %f: !t {titan.param = "f", titan.frozen},
                 %b: !u {titan.param = "b", titan.updated_by = @momentum, titan.stacked, titan.lr_scale = 0.25 : f64})
    -> (!s {titan.output = "loss"}, !t {titan.gradient = "a"}, !u {titan.gradient = "b", titan.stacked})
    attributes {titan.program = "train", titan.clip = 2.5 : f64} {
  %loss = titan.reduce sum %a : !t -> !s
  %da = titan.exp %a : !t -> !t
  %db = titan.tanh %b : !u -> !u
  return %loss, %da, %db : !s, !t, !u
}

// -----

// Clipping by value bounds the scaled gradient where the optimizer reads it. The norm is computed before both kinds of clipping.
// CHECK: titan.scalar_function @descent.update {
// CHECK-NEXT: ^bb0(%[[P:.*]]: {{.*}}, %[[G:.*]]: {{.*}}, %[[FACTOR:.*]]: {{.*}}):
// CHECK: %[[SCALED:.*]] = titan.mul %[[G]], %[[FACTOR]]
// CHECK: %[[LOW:.*]] = titan.constant -5.0{{0*}}e-01
// CHECK: %[[ABOVE:.*]] = titan.maximum %[[SCALED]], %[[LOW]]
// CHECK: %[[HIGH:.*]] = titan.constant 5.0{{0*}}e-01
// CHECK: %[[BOUND:.*]] = titan.minimum %[[ABOVE]], %[[HIGH]]
// CHECK: titan.sub %[[P]], %[[BOUND]]
// CHECK-LABEL: func.func @train
// CHECK: %[[D:.*]] = titan.exp
// CHECK: titan.contract %[[D]], %[[D]]
!t = !titan.tensor<f32[seq = 8]>
!s = !titan.tensor<f32[]>
func.func private @descent(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"})
    -> (!t {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  %p1 = titan.sub %p, %g : (!t, !t) -> !t
  return %p1 : !t
}
func.func @train(%a: !t {titan.param = "a", titan.updated_by = @descent})
    -> (!s {titan.output = "loss"}, !t {titan.gradient = "a"})
    attributes {titan.program = "train", titan.clip = 2.5 : f64, titan.clip_value = 0.5 : f64} {
  %g = titan.exp %a : !t -> !t
  %loss = titan.reduce sum %a : !t -> !s
  return %loss, %g : !s, !t
}

// -----

!t = !titan.tensor<f64[seq = 8]>
!h = !titan.tensor<f32[seq = 8]>
!s = !titan.tensor<f64[]>

// Without clipping, gradients are not scaled, but the norm is still reported. Scalars have the element type of the widest
// gradient, and the norm is summed in it. An update is computed in the function's element
// type, whatever is stored: each operand is converted, and each result back.
// CHECK: titan.scalar_function @descent.update {
// CHECK-NEXT: ^bb0(%{{.*}}: !titan.tensor<f64[]>, %{{.*}}: !titan.tensor<f64[]>):
// CHECK-NOT: titan.cast
// CHECK: titan.scalar_function @descent.update_0 {
// CHECK-NEXT: ^bb0(%[[P:.*]]: !titan.tensor<f32[]>, %[[G:.*]]: !titan.tensor<f32[]>):
// CHECK-DAG: %[[PW:.*]] = titan.cast %[[P]] : <f32[]> -> <f64[]>
// CHECK-DAG: %[[GW:.*]] = titan.cast %[[G]]
// CHECK: %[[NEXT:.*]] = titan.sub %[[PW]], %[[GW]]
// CHECK: %[[STORED:.*]] = titan.cast %[[NEXT]] : <f64[]> -> <f32[]>
// CHECK: titan.yield %[[STORED]]
// CHECK-LABEL: func.func @train
// CHECK-SAME: !titan.tensor<f64[]> {titan.scalar = "lr"}
// CHECK: %[[QA:.*]] = titan.contract {{.*}} -> !titan.tensor<f64[]>
// CHECK: %[[QB:.*]] = titan.contract {{.*}}<f32[{{.*}} -> !titan.tensor<f64[]>
// CHECK: titan.add %[[QA]], %[[QB]]
// CHECK: titan.sqrt
// CHECK-NOT: titan.minimum
// CHECK: titan.apply @descent.update(%{{.*}}, %{{.*}}) :
// CHECK: titan.apply @descent.update_0(%{{.*}}, %{{.*}}) :
func.func private @descent(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"})
    -> (!t {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  %p1 = titan.sub %p, %g : (!t, !t) -> !t
  return %p1 : !t
}
func.func @train(%a: !t {titan.param = "a", titan.updated_by = @descent}, %b: !h {titan.param = "b", titan.updated_by = @descent})
    -> (!s {titan.output = "loss"}, !t {titan.gradient = "a"}, !h {titan.gradient = "b"})
    attributes {titan.program = "train"} {
  %loss = titan.reduce sum %a : !t -> !s
  return %loss, %a, %b : !s, !t, !h
}

// -----

!t = !titan.tensor<f32[rows = 8, columns = 4]>
!r = !titan.tensor<f32[rows = 8]>
!u = !titan.tensor<f32[layers = 2, rows = 8, columns = 4]>
!s = !titan.tensor<f32[]>

// Operations that are not elementwise are inlined. For a stacked parameter, values that depend on it have
// the dimension of the stack first, and each layer is updated separately; scalars stay scalars.
// CHECK-NOT: titan.scalar_function
// CHECK-LABEL: func.func @train
// CHECK: %[[TWO:.*]] = titan.constant 2.0
// CHECK: %[[RATE:.*]] = titan.mul %{{.*}}, %[[TWO]] : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
// CHECK: %[[MOST:.*]] = titan.reduce max %{{.*}} : <f32[layers = 2, rows = 8, columns = 4]> -> <f32[layers = 2, rows = 8]>
// CHECK: %[[D:.*]] = titan.div %{{.*}}, %[[MOST]] : (!titan.tensor<f32[layers = 2, rows = 8, columns = 4]>, !titan.tensor<f32[layers = 2, rows = 8]>) -> !titan.tensor<f32[layers = 2, rows = 8, columns = 4]>
// CHECK: titan.mul %[[RATE]], %[[D]]
func.func private @rows(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"}, %lr: !s {titan.scalar = "lr"})
    -> (!t {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  %two = titan.constant 2.0 : !s
  %rate = titan.mul %lr, %two : (!s, !s) -> !s
  %most = titan.reduce max %g : !t -> !r
  %d = titan.div %g, %most : (!t, !r) -> !t
  %step = titan.mul %rate, %d : (!s, !t) -> !t
  %p1 = titan.sub %p, %step : (!t, !t) -> !t
  return %p1 : !t
}
func.func @train(%a: !u {titan.param = "a", titan.updated_by = @rows, titan.stacked})
    -> (!s {titan.output = "loss"}, !u {titan.gradient = "a", titan.stacked})
    attributes {titan.program = "train"} {
  %loss = titan.reduce sum %a : !u -> !s
  return %loss, %a : !s, !u
}

// -----

!t = !titan.tensor<f32[rows = 8, columns = 4]>
!r = !titan.tensor<f32[others = 8 of rows, columns = 4]>
!q = !titan.tensor<f32[rows = 8, others = 8 of rows]>
!k = !titan.tensor<f32[columns = 4]>
!u = !titan.tensor<f32[rows = 8, heads = 2, columns = 4]>
!s = !titan.tensor<f32[]>

// The function of one matrix updates each matrix of a batch, also if the dimension of the batch is not the first. Values and
// states have it in the position that it has in the parameter. Operations that find dimensions by their positions have it first.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[M:[^:]*]]: !titan.tensor<f32[heads = 2, columns = 4]> {titan.state = "m.a"}
// CHECK: %[[G:.*]] = titan.exp
// CHECK: %[[FIRST:.*]] = titan.expand %[[G]] : <f32[rows = 8, heads = 2, columns = 4]> -> <f32[heads = 2, rows = 8, columns = 4]>
// CHECK: %[[R:.*]] = titan.rename %[[FIRST]] : <f32[heads = 2, rows = 8, columns = 4]> -> <f32[heads = 2, others = 8 of rows, columns = 4]>
// CHECK: %[[Q:.*]] = titan.contract %[[G]], %[[R]] : {{.*}} -> !titan.tensor<f32[heads = 2, rows = 8, others = 8 of rows]>
// CHECK: %[[D:.*]] = titan.contract %[[Q]], %[[R]] : {{.*}} -> !titan.tensor<f32[rows = 8, heads = 2, columns = 4]>
// CHECK: %[[SUM:.*]] = titan.reduce sum %[[D]] : <f32[rows = 8, heads = 2, columns = 4]> -> <f32[heads = 2, columns = 4]>
// CHECK: %[[KEPT:.*]] = titan.add %[[M]], %[[SUM]]
// CHECK-NOT: titan.expand
// CHECK: titan.sub %{{.*}}, %{{.*}} -> !titan.tensor<f32[rows = 8, heads = 2, columns = 4]>
func.func private @square(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"}, %m: !k {titan.state = "m"})
    -> (!t {titan.updates = 0 : i64}, !k {titan.updates = 2 : i64}) attributes {titan.optimizer} {
  %r = titan.rename %g : !t -> !r
  %q = titan.contract %g, %r : (!t, !r) -> !q
  %d = titan.contract %q, %r : (!q, !r) -> !t
  %sum = titan.reduce sum %d : !t -> !k
  %m1 = titan.add %m, %sum : (!k, !k) -> !k
  %step = titan.mul %d, %m1 : (!t, !k) -> !t
  %p1 = titan.sub %p, %step : (!t, !t) -> !t
  return %p1, %m1 : !t, !k
}
func.func @train(%a: !u {titan.param = "a", titan.updated_by = @square})
    -> (!s {titan.output = "loss"}, !u {titan.gradient = "a"}) attributes {titan.program = "train"} {
  %loss = titan.reduce sum %a : !u -> !s
  %g = titan.exp %a : !u -> !u
  return %loss, %g : !s, !u
}

// -----

!t = !titan.tensor<f64[seq = 8]>
!s = !titan.tensor<f32[]>
!d = !titan.tensor<f64[]>
!i = !titan.tensor<i64[]>

// Non-finite gradients make the scale NaN, by differences that are 0 otherwise. A step whose scale is NaN
// changes no parameters, states and buffers.
// CHECK: titan.scalar_function @descent.update {
// CHECK-NEXT: ^bb0(%[[P:.*]]: !titan.tensor<f64[]>, %{{.*}}: !titan.tensor<f64[]>, %[[SCALE:.*]]: !titan.tensor<f64[]>):
// CHECK: %[[NEXT:.*]] = titan.sub %[[P]]
// CHECK: %[[APPLIED:.*]] = titan.compare eq, %[[SCALE]], %[[SCALE]]
// CHECK: %[[KEPT:.*]] = titan.select %[[APPLIED]], %[[NEXT]], %[[P]]
// CHECK: titan.yield %[[KEPT]]
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[COUNT:[^:]*]]: !titan.tensor<i64[]> {titan.buffer, titan.param = "count"}
// CHECK: %[[LOSS:.*]] = titan.cast
// CHECK: %[[NEXT:.*]] = titan.add %[[COUNT]], %[[COUNT]]
// CHECK: %[[NORM:.*]] = titan.sqrt
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK: %[[WIDE:.*]] = titan.cast %[[LOSS]]
// CHECK: %[[A:.*]] = titan.sub %[[NORM]], %[[NORM]]
// CHECK: %[[S:.*]] = titan.add %[[ONE]], %[[A]]
// CHECK: %[[B:.*]] = titan.sub %[[WIDE]], %[[WIDE]]
// CHECK: %[[SCALE:.*]] = titan.add %[[S]], %[[B]]
// CHECK: %[[APPLIED:.*]] = titan.compare eq, %[[SCALE]], %[[SCALE]]
// CHECK: %[[KEPT:.*]] = titan.select %[[APPLIED]], %[[NEXT]], %[[COUNT]]
// CHECK: titan.apply @descent.update(%{{.*}}, %{{.*}}, %[[SCALE]])
// CHECK: return %[[LOSS]], %[[NORM]], %[[LOSS]], {{.*}}, %[[KEPT]],
func.func private @descent(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"})
    -> (!t {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  %p1 = titan.sub %p, %g : (!t, !t) -> !t
  return %p1 : !t
}
func.func @train(%a: !t {titan.param = "a", titan.updated_by = @descent}, %count: !i {titan.param = "count", titan.buffer})
    -> (!s {titan.output = "loss"}, !t {titan.gradient = "a"}, !i {titan.updates = 1})
    attributes {titan.program = "train", titan.skip_nonfinite} {
  %sum = titan.reduce sum %a : !t -> !d
  %loss = titan.cast %sum : !d -> !s
  %next = titan.add %count, %count : (!i, !i) -> !i
  return %loss, %a, %next : !s, !t, !i
}

// -----

!s = !titan.tensor<f32[]>

// In a turn, the step argument of an optimizer counts the updates of the parameter. A schedule of a group has a
// separate learning rate.
// CHECK-LABEL: func.func @train.fool
// CHECK-SAME: (%[[A:[^:]*]]: !titan.tensor<f32[]> {titan.param = "a"}
// CHECK-SAME: %[[B:[^:]*]]: !titan.tensor<f32[]> {titan.param = "b"}
// CHECK-SAME: %[[LR:[^:]*]]: !titan.tensor<f32[]> {titan.scalar = "lr"}
// CHECK-SAME: %[[STEP:[^:]*]]: !titan.tensor<f32[]> {titan.scalar = "step"}
// CHECK-SAME: %[[SLOW:[^:]*]]: !titan.tensor<f32[]> {titan.scalar = "lr.slow"})
// CHECK: %[[FIRST:.*]] = titan.constant 5.0
// CHECK: %[[SINCE:.*]] = titan.sub %[[STEP]], %[[FIRST]]
// CHECK: %[[EVERY:.*]] = titan.constant 3.0
// CHECK: %[[EARLIER:.*]] = titan.div %[[SINCE]], %[[EVERY]]
// CHECK: %[[ONE:.*]] = titan.constant 1.0
// CHECK: %[[NUMBER:.*]] = titan.add %[[EARLIER]], %[[ONE]]
// CHECK: titan.apply @falling.update(%[[A]], %{{[^,]*}}, %[[SLOW]], %[[NUMBER]])
// CHECK: titan.apply @falling.update(%[[B]], %{{[^,]*}}, %[[LR]], %[[STEP]])
func.func private @falling(%p: !s {titan.operand = "parameter"}, %g: !s {titan.operand = "gradient"},
                           %lr: !s {titan.scalar = "lr"}, %step: !s {titan.scalar = "step"})
    -> (!s {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  %rate = titan.div %lr, %step : (!s, !s) -> !s
  %d = titan.mul %rate, %g : (!s, !s) -> !s
  %p1 = titan.sub %p, %d : (!s, !s) -> !s
  return %p1 : !s
}
func.func @train.fool(%a: !s {titan.param = "a", titan.updated_by = @falling, titan.scheduled_by = @slow,
                              titan.period = #titan.period<every = 3, offset = 4>},
                      %b: !s {titan.param = "b", titan.updated_by = @falling})
    -> (!s {titan.output = "loss"}, !s {titan.gradient = "a"}, !s {titan.gradient = "b"})
    attributes {titan.program = "train.fool", titan.turn = #titan.turn<due = [#titan.period<every = 3, offset = 4>,
                                                                               #titan.period<every = 1, offset = 0>], idle = []>} {
  %loss = titan.mul %a, %b : (!s, !s) -> !s
  return %loss, %b, %a : !s, !s, !s
}

// -----

!t = !titan.tensor<f32[seq = 8]>
!s = !titan.tensor<f32[]>

// In a pipeline, each stage sums the squares of its gradients before the sums of all stages are added.
// CHECK-LABEL: func.func @train
// CHECK: %[[W0:.*]] = titan.contract %[[DW:[^,]*]], %[[DW]]
// CHECK: %[[W1:.*]] = titan.contract
// CHECK: %[[V0:.*]] = titan.contract
// CHECK: %[[V1:.*]] = titan.contract
// CHECK: %[[HEAD:.*]] = titan.contract
// CHECK: %[[FIRST:.*]] = titan.add %[[W0]], %[[V0]]
// CHECK: %[[SECOND:.*]] = titan.add %[[W1]], %[[V1]]
// CHECK: %[[BOTH:.*]] = titan.add %[[HEAD]], %[[FIRST]]
// CHECK: %[[ALL:.*]] = titan.add %[[BOTH]], %[[SECOND]]
// CHECK: titan.sqrt %[[ALL]]
func.func private @descent(%p: !t {titan.operand = "parameter"}, %g: !t {titan.operand = "gradient"}, %lr: !s {titan.scalar = "lr"})
    -> (!t {titan.updates = 0 : i64}) attributes {titan.optimizer} {
  %d = titan.mul %lr, %g : (!s, !t) -> !t
  %p1 = titan.sub %p, %d : (!t, !t) -> !t
  return %p1 : !t
}
func.func @train(%w0: !t {titan.param = "w", titan.stage = 0 : i64, titan.updated_by = @descent},
                 %w1: !t {titan.param = "w", titan.stage = 1 : i64, titan.updated_by = @descent},
                 %v0: !t {titan.param = "v", titan.stage = 0 : i64, titan.updated_by = @descent},
                 %v1: !t {titan.param = "v", titan.stage = 1 : i64, titan.updated_by = @descent},
                 %head: !t {titan.param = "head", titan.updated_by = @descent})
    -> (!s {titan.output = "loss"}, !t {titan.gradient = "w", titan.stage = 0 : i64}, !t {titan.gradient = "w", titan.stage = 1 : i64},
        !t {titan.gradient = "v", titan.stage = 0 : i64}, !t {titan.gradient = "v", titan.stage = 1 : i64}, !t {titan.gradient = "head"})
    attributes {titan.program = "train"} {
  %loss = titan.reduce sum %w0 : !t -> !s
  %d0 = titan.exp %w0 : !t -> !t
  %d1 = titan.exp %w1 : !t -> !t
  %d2 = titan.exp %v0 : !t -> !t
  %d3 = titan.exp %v1 : !t -> !t
  %d4 = titan.exp %head : !t -> !t
  return %loss, %d0, %d1, %d2, %d3, %d4 : !s, !t, !t, !t, !t, !t
}
