// RUN: titan-opt %s --split-input-file --titan-split-stages | FileCheck %s
// RUN: titan-opt %s --split-input-file --titan-split-stages --titan-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>
!w = !titan.tensor<f32[layers = 5]>

// Stages follow each other. A parameter becomes one argument per stage with its layers and its scales; the body
// computes with the layer's index in the model. Another repeat stays whole.
// COUNT: titan-split-stages{{.*}}splitArguments
// CHECK: func.func @train(%[[X:[a-z0-9]+]]: !titan.tensor<f32[]> {titan.input = "x"},
// CHECK-SAME: %[[W0:[a-z0-9_]+]]: !titan.tensor<f32[layers.x3 = 3 of layers]> {titan.init = #titan.init<normal, [1.000000e+00, 2.000000e+00, 3.000000e+00]>, titan.param = "layers.w", titan.stacked, titan.stage = 0 : i64},
// CHECK-SAME: %[[W1:[a-z0-9_]+]]: !titan.tensor<f32[layers.x2 = 2 of layers]> {titan.init = #titan.init<normal, [4.000000e+00, 5.000000e+00]>, titan.param = "layers.w", titan.stacked = [array<i64: 3, 4>], titan.stage = 1 : i64},
// CHECK-SAME: %{{[a-z0-9_]+}}: !titan.tensor<f32[tail = 3]>
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [3, 2] schedule "1f1b" microbatches 2
func.func @train(%x: !s {titan.input = "x"},
                 %w: !w {titan.param = "layers.w", titan.stacked, titan.init = #titan.init<normal, [1.0, 2.0, 3.0, 4.0, 5.0]>},
                 %v: !titan.tensor<f32[tail = 3]> {titan.param = "tail.v", titan.stacked, titan.init = #titan.init<normal, [1.0]>})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  // CHECK: %[[H:.*]] = titan.repeat <layers.x3 = 3 of layers> iter_args(%[[X]]) scanned(%[[W0]]){{.*}}titan.stage = 0
  // CHECK-NEXT: ^bb0(%[[L0:.*]]: !titan.tensor<i64[]>,
  // CHECK: titan.cast %[[L0]]
  // CHECK: %[[Y:.*]] = titan.repeat <layers.x2 = 2 of layers> iter_args(%[[H]]) scanned(%[[W1]]){{.*}}titan.stage = 1
  // CHECK-NEXT: ^bb0(%[[L1:.*]]: !titan.tensor<i64[]>,
  // CHECK: %[[THREE:.*]] = titan.constant 3
  // CHECK: %[[LAYER:.*]] = titan.add %[[L1]], %[[THREE]]
  // CHECK: titan.cast %[[LAYER]]
  %y = titan.repeat <layers = 5> iter_args(%x) scanned(%w) : (!s, !w) -> !s {
  ^bb0(%l: !i, %c: !s, %wl: !s):
    %n = titan.cast %l : !i -> !s
    %p = titan.mul %c, %wl : (!s, !s) -> !s
    %q = titan.add %p, %n : (!s, !s) -> !s
    titan.yield %q : !s
  }
  // CHECK: titan.repeat <tail = 3> iter_args(%[[Y]])
  // CHECK-NOT: titan.stage
  // CHECK: return
  %z = titan.repeat <tail = 3> iter_args(%y) scanned(%v) : (!s, !titan.tensor<f32[tail = 3]>) -> !s {
  ^bb0(%l: !i, %c: !s, %vl: !s):
    %p = titan.mul %c, %vl : (!s, !s) -> !s
    titan.yield %p : !s
  }
  return %z : !s
}

// -----

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>
!w = !titan.tensor<f32[layers.x1 = 1 of layers]>

// A stage has the variants of its own layers. A parameter of layer 2 alone is no argument of the first stage.
// CHECK: func.func @train(%{{.*}}: !titan.tensor<f32[]> {titan.input = "x"},
// CHECK-SAME: %[[W:[a-z0-9_]+]]: !titan.tensor<f32[layers.x2.x1 = 1 of layers.x2]> {{{.*}}titan.stacked = [array<i64: 2>], titan.stage = 1 : i64})
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [2, 2] schedule "1f1b" microbatches 2
func.func @train(%x: !s {titan.input = "x"},
                 %w: !w {titan.param = "layers.w", titan.stacked = [array<i64: 2>], titan.init = #titan.init<normal, [1.0]>})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  // CHECK: titan.repeat <layers.x2 = 2 of layers> iter_args(%{{.*}}) scanned() {{.*}}titan.stage = 0
  // CHECK: titan.exp
  // CHECK-NOT: titan.mul
  // CHECK: titan.repeat <layers.x2 = 2 of layers> table [1, 0] iter_args(%{{.*}}) scanned(%[[W]] for [1])
  // CHECK: titan.exp
  // CHECK: titan.mul
  %y = titan.repeat <layers = 4> table [0, 0, 1, 0] iter_args(%x) scanned(%w for [1]) : (!s, !w) -> !s {
  ^bb0(%l: !i, %c: !s):
    %p = titan.exp %c : !s -> !s
    titan.yield %p : !s
  }, {
  ^bb0(%l: !i, %c: !s, %wl: !s):
    %p = titan.mul %c, %wl : (!s, !s) -> !s
    titan.yield %p : !s
  }
  return %y : !s
}

// -----

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>
!w = !titan.tensor<f32[layers = 2]>

// The next values of a buffer are returned stage by stage. A scanned value that is not a parameter is sliced.
// CHECK: func.func @train(%[[X:[a-z0-9]+]]: !titan.tensor<f32[]> {titan.input = "x"},
// CHECK-SAME: %{{[a-z0-9_]+}}: !titan.tensor<f32[layers.x1 = 1 of layers]> {{{.*}}titan.stacked, titan.stage = 0 : i64},
// CHECK-SAME: %{{[a-z0-9_]+}}: !titan.tensor<f32[layers.x1 = 1 of layers]> {{{.*}}titan.stacked = [array<i64: 1>], titan.stage = 1 : i64},
// CHECK-SAME: %{{[a-z0-9_]+}}: !titan.tensor<f32[]> {{{.*}}titan.param = "c"})
// CHECK-SAME: -> (!titan.tensor<f32[]> {titan.output = "loss"},
// CHECK-SAME: !titan.tensor<f32[layers.x1 = 1 of layers]> {titan.stacked, titan.stage = 0 : i64, titan.updates = 1 : i64},
// CHECK-SAME: !titan.tensor<f32[layers.x1 = 1 of layers]> {titan.stacked = [array<i64: 1>], titan.stage = 1 : i64, titan.updates = 2 : i64},
// CHECK-SAME: !titan.tensor<f32[]> {titan.updates = 3 : i64})
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [1, 1] schedule "1f1b" microbatches 2
func.func @train(%x: !s {titan.input = "x"},
                 %b: !w {titan.param = "layers.b", titan.stacked, titan.buffer, titan.init = #titan.init<constant, [0.0]>},
                 %c: !s {titan.param = "c", titan.buffer, titan.init = #titan.init<constant, [0.0]>})
    -> (!s {titan.output = "loss"}, !w {titan.stacked, titan.updates = 1 : i64}, !s {titan.updates = 2 : i64})
    attributes {titan.program = "train"} {
  %e = titan.expand %x : !s -> !w
  // CHECK: %[[E0:.*]] = titan.slice %{{.*}} dim "layers" from 0
  // CHECK: %[[A:.*]]:2 = titan.repeat
  // CHECK: %[[E1:.*]] = titan.slice %{{.*}} dim "layers" from 1
  // CHECK: %[[B:.*]]:2 = titan.repeat <layers.x1 = 1 of layers> iter_args(%[[A]]#0)
  %y:2 = titan.repeat <layers = 2> iter_args(%x) scanned(%b, %e) : (!s, !w, !w) -> (!s, !w) {
  ^bb0(%l: !i, %h: !s, %bl: !s, %el: !s):
    %p = titan.add %h, %el : (!s, !s) -> !s
    %q = titan.add %bl, %p : (!s, !s) -> !s
    titan.yield %p, %q : !s, !s
  }
  // CHECK: return %[[B]]#0, %[[A]]#1, %[[B]]#1, %[[B]]#0
  return %y#0, %y#1, %y#0 : !s, !w, !s
}

// -----

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>

// Two repeats over different dimensions form one sequence of layers. The second stage has the last layer of the first
// repeat and the second repeat.
// CHECK: dist.pipeline "pp" over "layers", "layers_1"
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers", "layers_1" layers_per_stage [2, 2] schedule "1f1b" microbatches 2
func.func @train(%x: !s {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  // CHECK: titan.repeat <layers.x2 = 2 of layers> {{.*}}titan.stage = 0
  // CHECK: titan.repeat <layers.x1 = 1 of layers> {{.*}}titan.stage = 1
  %y = titan.repeat <layers = 3> iter_args(%x) scanned() : (!s) -> !s {
  ^bb0(%l: !i, %h: !s):
    %p = titan.add %h, %h : (!s, !s) -> !s
    titan.yield %p : !s
  }
  // CHECK: titan.repeat <layers_1 = 1> {{.*}}titan.stage = 1
  %z = titan.repeat <layers_1 = 1> iter_args(%y) scanned() : (!s) -> !s {
  ^bb0(%l: !i, %h: !s):
    %p = titan.mul %h, %h : (!s, !s) -> !s
    titan.yield %p : !s
  }
  return %z : !s
}
