// RUN: titan-interpret %s | FileCheck %s
// RUN: titan-interpret %s --seed 1 | FileCheck %s --check-prefix=SEED
// RUN: titan-interpret %s --dump %t.safetensors && titan-interpret %s --seed 1 --inputs %t.safetensors | FileCheck %s --check-prefix=READ

// Initial values of arguments. A stacked parameter has a scale per layer and is initialised layer
// by layer. States are zero. Tokens are less than the vocabulary; labels are the tokens shifted by
// one.
!w = !titan.tensor<f32[layers = 2, x = 1000]>
!t = !titan.tensor<i64[batch = 2, seq = 3]>
!later = !titan.tensor<i64[batch = 2, part = 2]>
// CHECK: output constant = 2.5
// CHECK: output deviation0 = 1.0{{[0-9]+}}
// CHECK: output deviation1 = 0.10{{[0-9]+}}
// CHECK: output state = 0
// CHECK: output shift = 0
// CHECK: update layers.w: norm 32.469397914301723
// Another seed gives other values.
// SEED-NOT: 32.469397914301723
// A value in a file has priority; files of --dump can be read again, layer by layer.
// READ: update layers.w: norm 32.469397914301723
func.func @start(%c: !titan.tensor<f32[]> {titan.param = "constant", titan.init = #titan.init<constant, [2.5]>},
                 %w: !w {titan.param = "layers.w", titan.stacked, titan.init = #titan.init<normal, [1.0, 0.1]>},
                 %s: !titan.tensor<f32[]> {titan.state = "m.c"},
                 %tokens: !t {titan.input = "tokens"}, %labels: !t {titan.input = "labels"},
                 %table: !titan.tensor<f32[vocab = 5]> {titan.param = "table", titan.init = #titan.init<uniform, [1.0]>})
    -> (!titan.tensor<f32[]> {titan.output = "constant"}, !titan.tensor<f32[]> {titan.output = "deviation0"},
        !titan.tensor<f32[]> {titan.output = "deviation1"}, !titan.tensor<f32[]> {titan.output = "state"},
        !titan.tensor<i64[]> {titan.output = "shift"}, !w {titan.updates = 1 : i64, titan.stacked}) {
  %known = titan.gather %table along "vocab" at %tokens : (!titan.tensor<f32[vocab = 5]>, !t) -> !titan.tensor<f32[batch = 2, seq = 3]>
  %squares = titan.contract %w, %w : (!w, !w) -> !titan.tensor<f32[layers = 2]>
  %count = titan.constant 0.001 : !titan.tensor<f32[]>
  %variance = titan.mul %squares, %count : (!titan.tensor<f32[layers = 2]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[layers = 2]>
  %deviation = titan.sqrt %variance : !titan.tensor<f32[layers = 2]> -> !titan.tensor<f32[layers = 2]>
  %zero = titan.constant 0 : !titan.tensor<i64[]>
  %one = titan.constant 1 : !titan.tensor<i64[]>
  %d0 = titan.gather %deviation along "layers" at %zero : (!titan.tensor<f32[layers = 2]>, !titan.tensor<i64[]>) -> !titan.tensor<f32[]>
  %d1 = titan.gather %deviation along "layers" at %one : (!titan.tensor<f32[layers = 2]>, !titan.tensor<i64[]>) -> !titan.tensor<f32[]>
  %next = titan.slice %tokens dim "seq" from 1 : !t -> !later
  %same = titan.slice %labels dim "seq" from 0 : !t -> !later
  %apart = titan.compare ne, %next, %same : (!later, !later) -> !titan.tensor<i1[batch = 2, part = 2]>
  %apartAsNumber = titan.cast %apart : !titan.tensor<i1[batch = 2, part = 2]> -> !titan.tensor<i64[batch = 2, part = 2]>
  %shift = titan.reduce sum %apartAsNumber : !titan.tensor<i64[batch = 2, part = 2]> -> !titan.tensor<i64[]>
  return %c, %d0, %d1, %s, %shift, %w : !titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<i64[]>, !w
}
