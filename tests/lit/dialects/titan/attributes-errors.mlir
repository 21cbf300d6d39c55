// RUN: titan-opt %s --split-input-file --verify-diagnostics
// Attributes with the prefix `titan.` must be known; a misspelled one gets the nearest name.
!t = !titan.tensor<f32[x = 4]>

// expected-error@+1 {{unknown attribute `titan.parm`; did you mean `titan.param`?}}
func.func @misspelled(%w: !t {titan.parm = "w"}) {
  return
}

// -----

// expected-error@+1 {{unknown attribute `titan.something_else`}}
func.func @unknown() attributes {titan.something_else} {
  return
}

// -----

// expected-error@+1 {{unknown attribute `titan.ouput`; did you mean `titan.output`?}}
func.func @result(%x: !titan.tensor<f32[x = 4]>) -> (!titan.tensor<f32[x = 4]> {titan.ouput = "loss"}) {
  return %x : !titan.tensor<f32[x = 4]>
}

// -----

// expected-error@+1 {{attribute `titan.param` must be a string, got unit}}
func.func @kind(%w: !titan.tensor<f32[x = 4]> {titan.param}) {
  return
}

// -----

// expected-error@+1 {{attribute `titan.gradient` belongs on a result of a function, not on an argument of a function}}
func.func @holder(%w: !titan.tensor<f32[x = 4]> {titan.gradient = "w"}) {
  return
}

// -----

// expected-error@+1 {{attribute `titan.program` belongs on a function, not on a module}}
module attributes {titan.program = "train"} {}

// -----

// expected-error@+1 {{attribute `titan.run` must be a dictionary of #titan.setting, got {steps = 3 : i64}}}
module attributes {titan.run = {steps = 3 : i64}} {}

// -----

// expected-error@+1 {{(C1) expected "integer", "number", "word" or "text", got "digit"}}
module attributes {titan.run = {steps = #titan.setting<3 : i64, takes = "digit">}} {}

// -----

// expected-error@+1 {{(C2) "integer" needs `least`}}
module attributes {titan.run = {steps = #titan.setting<3 : i64, takes = "integer">}} {}

// -----

// expected-error@+1 {{(C3) expected strings, and two of them in `idle`}}
module attributes {titan.run = {steps = #titan.setting<3 : i64, takes = "text", idle = ["a"]>}} {}

// -----

// expected-error@+1 {{(C1) expected floating-point types, got 'i64'}}
func.func private @typed() attributes {titan.precision = #titan.precision<compute = i64>}

// -----

// expected-error@+1 {{attribute `titan.sizes` must be a dictionary of integers, got {samples = "many"}}}
module attributes {titan.sizes = {samples = "many"}} {}

// -----

// expected-error@+1 {{attribute `titan.data_dims` must be a #titan.data_dims, got {samples = "batch"}}}
module attributes {titan.data_dims = {samples = "batch"}} {}

// -----

// expected-error@+1 {{(C1) expected different names, got "row" and "row"}}
module attributes {titan.data_dims = #titan.data_dims<samples = "row", positions = "row">} {}

// -----

// expected-error@+1 {{(C1) expected different names, got "" and "row"}}
module attributes {titan.data_dims = #titan.data_dims<samples = "", positions = "row">} {}

// -----

func.func @operation(%x: !titan.tensor<f32[x = 4]>) {
  // expected-error@+1 {{attribute `titan.grad_kind` must be "wgrad" or "dgrad", got "agrad"}}
  %y = titan.exp %x {titan.grad_kind = "agrad"} : !titan.tensor<f32[x = 4]> -> !titan.tensor<f32[x = 4]>
  return
}

// -----

func.func @constraint(%x: !titan.tensor<f32[x = 4]>) {
  // expected-error@+1 {{attribute `titan.name` belongs on a sharding constraint, not on an operation of a function}}
  %y = titan.exp %x {titan.name = "y"} : !titan.tensor<f32[x = 4]> -> !titan.tensor<f32[x = 4]>
  return
}

// -----

dist.mesh @mesh [#dist.axis<a = 2>]
// expected-error@+1 {{unknown attribute `dist.override`; did you mean `dist.overrides`?}}
dist.axis_rules "a" shards ["x"] fallback [] stores [] {dist.override = []}

// -----

// expected-error@+1 {{attribute `dist.overrides` belongs on axis rules, not on a function}}
func.func @rules() attributes {dist.overrides = []} {
  return
}

// -----

// expected-error@+1 {{attribute `titan.schedule` belongs on a scalar function, not on a function}}
func.func @schedule() attributes {titan.schedule = ["step"]} {
  return
}

// -----

// expected-error@+1 {{attribute `titan.weights` must be a #titan.weight_map, got "hf"}}
module attributes {titan.weights = "hf"} {}

// -----

// expected-error@+2 {{failed to parse Titan_WeightMapAttr parameter 'parameters'}}
// expected-error@+1 {{(C1) "w" has 2 sizes and 1 strides}}
module attributes {titan.weights = #titan.weight_map<"hf", [#titan.stored_parameter<"w", "w.weight", shape = [4], start = 0, sizes = [2, 2], strides = [1]>], copies = {}, unused = []>} {}

// -----

// expected-error@+2 {{failed to parse Titan_WeightMapAttr parameter 'parameters'}}
// expected-error@+1 {{(C2) "w" has the elements 1 to 4 of 4 in "w.weight"}}
module attributes {titan.weights = #titan.weight_map<"hf", [#titan.stored_parameter<"w", "w.weight", shape = [4], start = 1, sizes = [4], strides = [1]>], copies = {}, unused = []>} {}

// -----

// expected-error@+2 {{failed to parse Titan_WeightMapAttr parameter 'parameters'}}
// expected-error@+1 {{(C2) "w" has the size 0 with the stride 1}}
module attributes {titan.weights = #titan.weight_map<"hf", [#titan.stored_parameter<"w", "w.weight", shape = [4], start = 0, sizes = [0], strides = [1]>], copies = {}, unused = []>} {}

// -----

// expected-error@+1 {{(C1) expected stored parameters, and copies, unused and merged as strings}}
module attributes {titan.weights = #titan.weight_map<"hf", ["w"], copies = {}, unused = []>} {}

// -----

// expected-error@+1 {{`titan.index_range` must be an array<i64: ...> of two numbers}}
func.func @range(%label: !titan.tensor<i64[batch = 4]> {titan.index_range = array<i64: 9>}) {
  return
}

// -----

// expected-error@+1 {{`titan.sums_over_samples` must be a unit attribute}}
module attributes {titan.sums_over_samples = 1 : i64} {}
