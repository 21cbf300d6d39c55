// RUN: titan-opt --dist-assign-shardings -split-input-file %s | FileCheck %s

dist.mesh @mesh [#dist.axis<r = auto>, #dist.axis<one = 1>, #dist.axis<t = 2>]
dist.axis_rules "r" shards ["batch"] fallback [] stores ["params", "grads", "optimizer"]
dist.axis_rules "one" shards ["batch", "embed"] fallback [] stores ["params"]
dist.axis_rules "t" shards ["heads", "group", "ffn"] fallback ["seq"] stores []

// Inputs are sharded by name, with `fallback` last. Parameters and their state are flat over the axes that store
// them and shard no dimension, after the stacked dimensions. No sharding names an axis of degree 1.
// CHECK-LABEL: func.func @arguments
// CHECK-SAME: !titan.tensor<i64[batch = 4, seq = 8], <[{r}, {t}]>> {titan.input = "tokens"}
// CHECK-SAME: !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}] flat 0 {r}>> {titan.param = "w"}
// CHECK-SAME: !titan.tensor<f32[layers = 2, ffn = 6], <[{}, {t}] flat 1 {r}>> {titan.param = "layers.b", titan.stacked}
// CHECK-SAME: !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}] flat 0 {r}>> {titan.state = "m.w"}
// CHECK-SAME: !titan.tensor<f32[], <[]>> {titan.scalar = "lr"}
func.func @arguments(
    %tokens: !titan.tensor<i64[batch = 4, seq = 8]> {titan.input = "tokens"},
    %w: !titan.tensor<f32[embed = 4, ffn = 6]> {titan.param = "w"},
    %b: !titan.tensor<f32[layers = 2, ffn = 6]> {titan.param = "layers.b", titan.stacked},
    %m: !titan.tensor<f32[embed = 4, ffn = 6]> {titan.state = "m.w"},
    %lr: !titan.tensor<f32[]> {titan.scalar = "lr"}) {
  return
}

// A dimension of size 1, or one that the degree does not divide, is skipped. A renamed dimension matches
// its origin if the tensor lacks the origin.
// CHECK-LABEL: func.func @names
// CHECK-SAME: !titan.tensor<f32[batch = 1, heads = 3, group = 4], <[{}, {}, {t}]>>
// CHECK-SAME: !titan.tensor<f32[keys = 8 of seq], <[{t}]>>
// CHECK-SAME: !titan.tensor<f32[keys = 8 of seq, seq = 8], <[{}, {t}]>>
func.func @names(%a: !titan.tensor<f32[batch = 1, heads = 3, group = 4]>, %b: !titan.tensor<f32[keys = 8 of seq]>,
                 %c: !titan.tensor<f32[keys = 8 of seq, seq = 8]>) {
  return
}

// An iteration argument has one sharding at init, argument, yield and result; a slot has that of its stack.
// CHECK-LABEL: func.func @repeat
func.func @repeat(%x: !titan.tensor<f32[seq = 8]>, %w: !titan.tensor<f32[layers = 2, seq = 8]> {titan.param = "layers.w", titan.stacked})
    -> !titan.tensor<f32[seq = 8]> {
  %0 = titan.tanh %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>
  // CHECK: %[[INIT:.*]] = titan.sharding_constraint %{{.*}} : {{.*}}<f32[seq = 8]> -> {{.*}}<f32[seq = 8], <[{t}]>>
  // CHECK: titan.repeat <layers = 2> iter_args(%[[INIT]])
  // CHECK-SAME: -> !titan.tensor<f32[seq = 8], <[{t}]>> {
  %1 = titan.repeat <layers = 2> iter_args(%0) scanned(%w) : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[layers = 2, seq = 8]>) -> !titan.tensor<f32[seq = 8]> {
  // CHECK: ^bb0({{.*}}, %{{.*}}: !titan.tensor<f32[seq = 8], <[{t}]>>, %{{.*}}: !titan.tensor<f32[seq = 8], <[{t}] flat 0 {r}>>)
  ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[seq = 8]>, %wl: !titan.tensor<f32[seq = 8]>):
    %2 = titan.mul %c, %wl : (!titan.tensor<f32[seq = 8]>, !titan.tensor<f32[seq = 8]>) -> !titan.tensor<f32[seq = 8]>
    // CHECK: %[[NEXT:.*]] = titan.sharding_constraint
    // CHECK: titan.yield %[[NEXT]]
    titan.yield %2 : !titan.tensor<f32[seq = 8]>
  }
  return %1 : !titan.tensor<f32[seq = 8]>
}

// A stacked gradient is constrained at the body's yield. An update has the sharding of its argument.
// Outputs for the runtime are replicated.
// CHECK-LABEL: func.func @results
// CHECK-SAME: -> (!titan.tensor<f32[layers = 2, ffn = 6], <[{}, {t}] flat 1 {r}>> {titan.gradient = "layers.b", titan.stacked},
// CHECK-SAME: !titan.tensor<f32[ffn = 6], <[{t}] flat 0 {r}>> {titan.updates = 0 : i64},
// CHECK-SAME: !titan.tensor<f32[ffn = 6], <[{}]>> {titan.output = "logits"})
func.func @results(%b: !titan.tensor<f32[ffn = 6]> {titan.param = "b"}) -> (
    !titan.tensor<f32[layers = 2, ffn = 6]> {titan.gradient = "layers.b", titan.stacked},
    !titan.tensor<f32[ffn = 6]> {titan.updates = 0}, !titan.tensor<f32[ffn = 6]> {titan.output = "logits"}) {
  %0, %1 = titan.repeat <layers = 2> iter_args(%b) scanned() : (!titan.tensor<f32[ffn = 6]>) -> (!titan.tensor<f32[ffn = 6]>, !titan.tensor<f32[layers = 2, ffn = 6]>) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[ffn = 6]>):
    %2 = titan.neg %c : !titan.tensor<f32[ffn = 6]> -> !titan.tensor<f32[ffn = 6]>
    // CHECK: %[[G:.*]] = titan.sharding_constraint %{{.*}} -> {{.*}}<f32[ffn = 6], <[{t}] flat 0 {r}>>
    // CHECK: titan.yield %{{.*}}, %[[G]]
    titan.yield %2, %2 : !titan.tensor<f32[ffn = 6]>, !titan.tensor<f32[ffn = 6]>
  }
  // CHECK-DAG: %[[U:.*]] = titan.sharding_constraint %{{.*}} -> {{.*}}<f32[ffn = 6], <[{t}] flat 0 {r}>>
  // CHECK-DAG: %[[O:.*]] = titan.sharding_constraint %{{.*}} -> {{.*}}<f32[ffn = 6], <[{}]>>
  // CHECK: return %{{.*}}, %[[U]], %[[O]]
  return %1, %0, %0 : !titan.tensor<f32[layers = 2, ffn = 6]>, !titan.tensor<f32[ffn = 6]>, !titan.tensor<f32[ffn = 6]>
}

// -----

dist.mesh @mesh [#dist.axis<r = 2>, #dist.axis<t = 2>]
dist.axis_rules "r" shards ["batch"] fallback [] stores ["params", "grads", "optimizer"] {dist.overrides = [
  {of = "parameters", names = ["w"], stores = []},
  {of = "parameters", names = ["w"], stores = ["optimizer"]}]}
dist.axis_rules "t" shards ["ffn"] fallback ["seq"] stores [] {dist.overrides = [
  {of = "parameters", names = ["w"], shards = ["embed"]},
  {of = "values", names = ["h", "x"], shards = []},
  {of = "values", names = ["layers.y", "tokens"], shards = ["embed", "batch"]}]}

// An override of a parameter also applies to its gradient and state; the last one wins, and other
// tensors are unaffected. Inputs are values.
// CHECK-LABEL: func.func @overridden
// CHECK-SAME: !titan.tensor<i64[batch = 4, seq = 8], <[{r, t}, {}]>> {titan.input = "tokens"}
// CHECK-SAME: !titan.tensor<f32[embed = 4, ffn = 6], <[{t}, {}]>> {titan.param = "w"}
// CHECK-SAME: !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}] flat 0 {r}>> {titan.param = "w2"}
// CHECK-SAME: !titan.tensor<f32[embed = 4, ffn = 6], <[{t}, {}] flat 0 {r}>> {titan.state = "m.w"}
func.func @overridden(
    %tokens: !titan.tensor<i64[batch = 4, seq = 8]> {titan.input = "tokens"},
    %w: !titan.tensor<f32[embed = 4, ffn = 6]> {titan.param = "w"},
    %w2: !titan.tensor<f32[embed = 4, ffn = 6]> {titan.param = "w2"},
    %m: !titan.tensor<f32[embed = 4, ffn = 6]> {titan.state = "m.w"}) {
  return
}

// Overrides match the names of sharding constraints. An iteration argument has the name of the constraint of its initial value.
// CHECK-LABEL: func.func @values
func.func @values(%a: !titan.tensor<f32[seq = 8, embed = 4]>) -> !titan.tensor<f32[seq = 8, embed = 4]> {
  // CHECK: titan.sharding_constraint {{.*}} {titan.name = "x"} : {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{}, {}]>>
  %x = titan.sharding_constraint %a {titan.name = "x"} : !titan.tensor<f32[seq = 8, embed = 4]> -> !titan.tensor<f32[seq = 8, embed = 4]>
  // CHECK: ^bb0(%{{.*}}, %{{.*}}: !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>>)
  %1 = titan.repeat <layers = 2> iter_args(%x) scanned() : (!titan.tensor<f32[seq = 8, embed = 4]>) -> !titan.tensor<f32[seq = 8, embed = 4]> {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[seq = 8, embed = 4]>):
    // CHECK: %[[Y:.*]] = titan.sharding_constraint {{.*}} {titan.name = "layers.y"} : {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{}, {t}]>>
    %y = titan.sharding_constraint %c {titan.name = "layers.y"} : !titan.tensor<f32[seq = 8, embed = 4]> -> !titan.tensor<f32[seq = 8, embed = 4]>
    // CHECK: titan.sharding_constraint %[[Y]] : {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{}, {}]>>
    titan.yield %y : !titan.tensor<f32[seq = 8, embed = 4]>
  }
  // CHECK: titan.sharding_constraint {{.*}} {titan.name = "other"} : {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{t}, {}]>>
  %2 = titan.sharding_constraint %1 {titan.name = "other"} : !titan.tensor<f32[seq = 8, embed = 4]> -> !titan.tensor<f32[seq = 8, embed = 4]>
  return %2 : !titan.tensor<f32[seq = 8, embed = 4]>
}

// One value can be the gradient of two parameters with different shardings (the zero gradient of unused parameters). A
// gradient has the sharding of the optimizer state, here by the override of "w".
// CHECK-LABEL: func.func @one_value
// CHECK-SAME: -> ({{.*}}<f32[embed = 4, ffn = 6], <[{t}, {}] flat 0 {r}>> {titan.gradient = "w"}, {{.*}}<f32[embed = 4, ffn = 6], <[{}, {t}] flat 0 {r}>> {titan.gradient = "w2"})
// CHECK-DAG: %[[W:.*]] = titan.sharding_constraint {{.*}} -> {{.*}}<f32[embed = 4, ffn = 6], <[{t}, {}] flat 0 {r}>>
// CHECK-DAG: %[[W2:.*]] = titan.sharding_constraint {{.*}} -> {{.*}}<f32[embed = 4, ffn = 6], <[{}, {t}] flat 0 {r}>>
// CHECK: return %[[W]], %[[W2]]
func.func @one_value(%w: !titan.tensor<f32[embed = 4, ffn = 6]> {titan.param = "w"}, %w2: !titan.tensor<f32[embed = 4, ffn = 6]> {titan.param = "w2"})
    -> (!titan.tensor<f32[embed = 4, ffn = 6]> {titan.gradient = "w"}, !titan.tensor<f32[embed = 4, ffn = 6]> {titan.gradient = "w2"}) {
  %0 = titan.constant 0.0 : !titan.tensor<f32[]>
  %1 = titan.expand %0 : !titan.tensor<f32[]> -> !titan.tensor<f32[embed = 4, ffn = 6]>
  return %1, %1 : !titan.tensor<f32[embed = 4, ffn = 6]>, !titan.tensor<f32[embed = 4, ffn = 6]>
}
