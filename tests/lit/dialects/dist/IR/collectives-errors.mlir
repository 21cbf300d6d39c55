// RUN: titan-opt %s -split-input-file -verify-diagnostics

// A mesh has distinct axes.
// expected-error @+1 {{(C1) axis "tp" occurs twice}}
dist.mesh @mesh [#dist.axis<tp = 2>, #dist.axis<tp = 4>]

// -----

// At most one degree is fixed at launch.
// expected-error @+1 {{(C2) degree of axis "b"}}
dist.mesh @mesh [#dist.axis<a = auto>, #dist.axis<b = auto>]

// -----

dist.mesh @mesh [#dist.axis<shard = 2>]
// Axis rules name an axis of the mesh.
// expected-error @+1 {{(C1) the mesh has no axis "tp"}}
dist.axis_rules "tp" shards ["heads"] fallback [] stores []

// -----

dist.mesh @mesh [#dist.axis<shard = 2>]
// Parameters, gradients and optimizer state can be stored.
// expected-error @+1 {{(C2) expected params, grads or optimizer}}
dist.axis_rules "shard" shards [] fallback [] stores ["activations"]

// -----

dist.mesh @mesh [#dist.axis<shard = 2>]
// Overrides store only these kinds of state, too.
// expected-error @+1 {{(C2) expected params, grads or optimizer}}
dist.axis_rules "shard" shards [] fallback [] stores [] {dist.overrides = [
  {of = "parameters", names = ["w"], stores = ["activations"]}]}

// -----

dist.mesh @mesh [#dist.axis<shard = 2>]
// Overrides of values store nothing.
// expected-error @+1 {{(C4) no override: {names = ["h"], of = "values", stores = []}}}
dist.axis_rules "shard" shards [] fallback [] stores [] {dist.overrides = [
  {of = "values", names = ["h"], stores = []}]}

// -----

// A reshard keeps the global value.
func.func @f(%x: !titan.tensor<f32[seq = 8]>) {
  // expected-error @+1 {{(C1) operand and result differ}}
  %0 = dist.reshard %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 9]>
  return
}

// -----

// A gather keeps the global value.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{tp}]>>) {
  // expected-error @+1 {{(C1) operand and result differ}}
  %0 = dist.all_gather %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{tp}]>> -> !titan.tensor<f32[seq = 9], <[{}]>>
  return
}

// -----

// A gather removes exactly its axes.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{a, b}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.all_gather %x over ["a"] : !titan.tensor<f32[seq = 8], <[{a, b}]>> -> !titan.tensor<f32[seq = 8], <[{b}]>>
  return
}

// -----

// Only partial values are reduced.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{tp}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.all_reduce %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{tp}]>> -> !titan.tensor<f32[seq = 8], <[{}]>>
  return
}

// -----

// A reduce-scatter leaves its axes on a dimension.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{}] partial sum {tp}>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.reduce_scatter %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{}] partial sum {tp}>> -> !titan.tensor<f32[seq = 8], <[{}]>>
  return
}

// -----

// An all-to-all moves between two dimensions.
func.func @f(%x: !titan.tensor<f32[seq = 8, embed = 4], <[{tp}, {}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.all_to_all %x over ["tp"] : !titan.tensor<f32[seq = 8, embed = 4], <[{tp}, {}]>> -> !titan.tensor<f32[seq = 8, embed = 4], <[{}, {}]>>
  return
}

// -----

// A local slice adds its axes.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{tp}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.local_slice %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{tp}]>> -> !titan.tensor<f32[seq = 8], <[{}]>>
  return
}

// -----

// The result is partial over the given axes.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.make_partial %x over ["tp"] : !titan.tensor<f32[seq = 8], <[{}]>> -> !titan.tensor<f32[seq = 8], <[{}] partial sum {a}>>
  return
}

// -----

// Reduced axes are not partial any more.
func.func @f(%x: !titan.tensor<f32[], <[] partial sum {a, b}>>) {
  // expected-error @+1 {{(C2) does not lead from '!titan.tensor<f32[], <[] partial sum {a, b}>>' to '!titan.tensor<f32[], <[] partial sum {a}>>' by ["a"]}}
  %0 = dist.all_reduce %x over ["a"] : !titan.tensor<f32[], <[] partial sum {a, b}>> -> !titan.tensor<f32[], <[] partial sum {a}>>
  return
}

// -----

// Each axis is reduced once.
func.func @f(%x: !titan.tensor<f32[], <[] partial sum {a, b}>>) {
  // expected-error @+1 {{(C2) does not lead from '!titan.tensor<f32[], <[] partial sum {a, b}>>' to '!titan.tensor<f32[], <[]>>' by ["a", "a"]}}
  %0 = dist.all_reduce %x over ["a", "a"] : !titan.tensor<f32[], <[] partial sum {a, b}>> -> !titan.tensor<f32[], <[]>>
  return
}

// -----

// The axes were not partial before.
func.func @f(%x: !titan.tensor<f32[], <[] partial sum {a}>>) {
  // expected-error @+1 {{(C2) does not lead from '!titan.tensor<f32[], <[] partial sum {a}>>' to '!titan.tensor<f32[], <[] partial sum {a, b}>>' by ["a"]}}
  %0 = dist.make_partial %x over ["a"] : !titan.tensor<f32[], <[] partial sum {a}>> -> !titan.tensor<f32[], <[] partial sum {a, b}>>
  return
}

// -----

// The other ranks hold 0, which is not the identity of a maximum.
func.func @f(%x: !titan.tensor<f32[], <[]>>) {
  // expected-error @+1 {{(C2) does not lead from '!titan.tensor<f32[], <[]>>' to '!titan.tensor<f32[], <[] partial max {a}>>' by ["a"]}}
  %0 = dist.make_partial %x over ["a"] : !titan.tensor<f32[], <[]>> -> !titan.tensor<f32[], <[] partial max {a}>>
  return
}

// -----

// The reduction kind stays.
func.func @f(%x: !titan.tensor<f32[x = 4], <[{a}] partial sum {b}>>) {
  // expected-error @+1 {{(C2) does not lead from '!titan.tensor<f32[x = 4], <[{a}] partial sum {b}>>' to '!titan.tensor<f32[x = 4], <[{}] partial max {b}>>' by ["a"]}}
  %0 = dist.all_gather %x over ["a"] : !titan.tensor<f32[x = 4], <[{a}] partial sum {b}>> -> !titan.tensor<f32[x = 4], <[{}] partial max {b}>>
  return
}

// -----

// A maximum reduced over one axis stays a maximum over the other.
func.func @f(%x: !titan.tensor<f32[x = 6], <[{}] partial max {a, b}>>) {
  // expected-error @+1 {{(C2) does not lead from '!titan.tensor<f32[x = 6], <[{}] partial max {a, b}>>' to '!titan.tensor<f32[x = 6], <[{}] partial sum {b}>>' by ["a"]}}
  %0 = dist.all_reduce %x over ["a"] : !titan.tensor<f32[x = 6], <[{}] partial max {a, b}>> -> !titan.tensor<f32[x = 6], <[{}] partial sum {b}>>
  return
}

// -----

// Flat storage keeps its first dimension.
func.func @f(%x: !titan.tensor<f32[x = 4, y = 4], <[{}, {}] flat 1 {b, a}>>) {
  // expected-error @+1 {{(C2) does not lead from '!titan.tensor<f32[x = 4, y = 4], <[{}, {}] flat 1 {b, a}>>' to '!titan.tensor<f32[x = 4, y = 4], <[{}, {}] flat 0 {b}>>' by ["a"]}}
  %0 = dist.all_gather %x over ["a"] : !titan.tensor<f32[x = 4, y = 4], <[{}, {}] flat 1 {b, a}>> -> !titan.tensor<f32[x = 4, y = 4], <[{}, {}] flat 0 {b}>>
  return
}

// -----

// The axes of the dimensions stay, since flat storage depends on them.
func.func @f(%x: !titan.tensor<f32[x = 4], <[{a}] flat 0 {b}>>) {
  // expected-error @+1 {{(C2) does not lead from '!titan.tensor<f32[x = 4], <[{a}] flat 0 {b}>>' to '!titan.tensor<f32[x = 4], <[{}] flat 0 {b}>>' by ["a"]}}
  %0 = dist.all_gather %x over ["a"] : !titan.tensor<f32[x = 4], <[{a}] flat 0 {b}>> -> !titan.tensor<f32[x = 4], <[{}] flat 0 {b}>>
  return
}

// -----

!a = !titan.tensor<f32[seq = 8], <[{tp}]>>
!b = !titan.tensor<f32[seq = 8], <[{}]>>
// As many results as operands.
func.func @f(%x: !a) {
  // expected-error @+1 {{(C1) has 1 operands but 2 results}}
  %0, %1 = dist.all_gather %x over ["tp"] : !a -> !b, !b
  return
}

// -----

!a = !titan.tensor<f32[seq = 8], <[{tp}]>>
!b = !titan.tensor<f32[seq = 8], <[{}]>>
!c = !titan.tensor<f64[seq = 8], <[{tp}]>>
!d = !titan.tensor<f64[seq = 8], <[{}]>>
// A coalesced collective has one element type.
func.func @f(%x: !a, %y: !c) {
  // expected-error @+1 {{(C3) coalesces '!titan.tensor<f64[seq = 8], <[{tp}]>>' with '!titan.tensor<f32[seq = 8], <[{tp}]>>'}}
  %0, %1 = dist.all_gather %x, %y over ["tp"] : !a, !c -> !b, !d
  return
}

// -----

!s = !titan.tensor<f32[seq = 8], <[{}] partial sum {tp}>>
!m = !titan.tensor<f32[seq = 8], <[{}] partial max {tp}>>
!b = !titan.tensor<f32[seq = 8], <[{}]>>
// A coalesced collective has one reduction kind.
func.func @f(%x: !s, %y: !m) {
  // expected-error @+1 {{(C3) coalesces}}
  %0, %1 = dist.all_reduce %x, %y over ["tp"] : !s, !m -> !b, !b
  return
}

// -----

!a = !titan.tensor<f32[seq = 8], <[{tp}]>>
!b = !titan.tensor<f32[seq = 8], <[{}]>>
func.func @f(%x: !a) -> !a {
  %0 = dist.all_gather %x over ["tp"] start 1 : !a -> !b
  // The results have the types of the values in flight.
  // expected-error @+1 {{(C1) expected results of the types of its operands}}
  %1 = dist.wait 1 %0 : (!b) -> !a
  return %1 : !a
}

// -----

!a = !titan.tensor<f32[seq = 8], <[{tp}]>>
!b = !titan.tensor<f32[seq = 8], <[{}]>>
func.func @f(%x: !a) -> !b {
  %0 = dist.all_gather %x over ["tp"] start 1 : !a -> !b
  // The wait is on the channel of the start.
  // expected-error @+1 {{(C2) waits on channel 2 for a value that is not in flight there}}
  %1 = dist.wait 2 %0 : (!b) -> !b
  return %1 : !b
}

// -----

!a = !titan.tensor<f32[seq = 8], <[{tp}]>>
!b = !titan.tensor<f32[seq = 8], <[{}]>>
func.func @f(%x: !a) -> !b {
  %0 = dist.all_gather %x over ["tp"] : !a -> !b
  // A synchronous value has no wait.
  // expected-error @+1 {{(C2) waits on channel 0 for a value that is not in flight there}}
  %1 = dist.wait 0 %0 : (!b) -> !b
  return %1 : !b
}

// -----

!stack = !titan.tensor<f32[layers = 3, seq = 8]>
// A layer lacks the first dimension of its stack.
func.func @f(%w: !stack) {
  // expected-error @+1 {{(C1) gives '!titan.tensor<f32[layers = 3]>', which is not a slice of}}
  %0 = dist.layer %w[0] : !stack -> !titan.tensor<f32[layers = 3]>
  return
}

// -----

!stack = !titan.tensor<f32[layers = 3, seq = 8]>
// The layers of a stack of three are 0, 1 and 2.
func.func @f(%w: !stack) {
  // expected-error @+1 {{(C2) lacks the slice 3 of}}
  %0 = dist.layer %w[3] : !stack -> !titan.tensor<f32[seq = 8]>
  return
}

// -----

!stack = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}]>>
// The index is that of a repeat over the stack's leading dimension.
func.func @f(%w: !stack, %i: !titan.tensor<i64[], <[]>>) {
  // expected-error @+1 {{(C2) lacks the slice 1 of}}
  %0 = dist.layer %w[%i + 1] : !stack -> !titan.tensor<f32[seq = 8], <[{}]>>
  return
}

// -----

!x = !titan.tensor<f32[x = 8], <[{t}]>>
!y = !titan.tensor<f32[x = 8], <[{}]>>
// A permute moves shards without changing the sharding.
func.func @permute(%x: !x) {
  // expected-error @+1 {{(C1) has operands of types}}
  %0 = dist.permute %x over ["t"] by 1 : !x -> !y
  return
}

// -----
// A permute sends to another rank.
!x = !titan.tensor<f32[x = 8], <[{t}]>>
func.func @stays(%x: !x) {
  // expected-error @+1 {{(C2) stays on its rank: the offset is 0}}
  %0 = dist.permute %x over ["t"] by 0 : !x -> !x
  return
}

// -----
// A permute has one element type.
!x = !titan.tensor<f32[x = 8], <[{t}]>>
!d = !titan.tensor<f64[x = 8], <[{t}]>>
func.func @types(%x: !x, %y: !d) {
  // expected-error @+1 {{(C3) coalesces}}
  %0:2 = dist.permute %x, %y over ["t"] by 1 : !x, !d -> !x, !d
  return
}

// -----
// A send is to another rank.
!x = !titan.tensor<f32[x = 8], <[{t}]>>
func.func @sendsToItself(%x: !x) {
  // expected-error @+1 {{(C1) stays on its rank: the offset is 0}}
  dist.send %x over ["t"] by 0 : !x
  return
}

// -----
// A receive does not change the sharding.
!x = !titan.tensor<f32[x = 8], <[{t}]>>
!y = !titan.tensor<f32[x = 8], <[{}]>>
func.func @receives(%x: !x) {
  // expected-error @+1 {{(C1) operand and result differ}}
  %0 = dist.receive %x over ["t"] by 1 : !x -> !y
  return
}

// -----

// A collective does not change the order of the other axes.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{a headtail, b}]>>) {
  // expected-error @+1 {{(C2) does not lead from}}
  %0 = dist.all_gather %x over ["b"] : !titan.tensor<f32[seq = 8], <[{a headtail, b}]>> -> !titan.tensor<f32[seq = 8], <[{a}]>>
  return
}

// -----

// An axis in head-tail order is gathered alone.
func.func @f(%x: !titan.tensor<f32[seq = 8], <[{a, b headtail}]>>) {
  // expected-error @+1 {{(C4) moves "b", which has head-tail order, with others}}
  %0 = dist.all_gather %x over ["a", "b"] : !titan.tensor<f32[seq = 8], <[{a, b headtail}]>> -> !titan.tensor<f32[seq = 8], <[{}]>>
  return
}

// -----

// Head-tail order needs a degree that is known at compile time.
dist.mesh @mesh [#dist.axis<dp = auto>]
// expected-error @+1 {{(C5) head-tail order needs a known degree of axis "dp"}}
dist.axis_rules "dp" shards ["batch"] fallback [] stores [] headtail

// -----

// Methods of attention other than gather need a degree that is known at compile time.
dist.mesh @mesh [#dist.axis<dp = auto>]
// expected-error @+1 {{(C5) ring attention needs a known degree of axis "dp"}}
dist.axis_rules "dp" shards ["batch"] fallback [] stores [] attention ring

// -----

dist.mesh @mesh [#dist.axis<cp = 2>]
// expected-error @+1 {{(C6) all_to_all attention needs positions in block order}}
dist.axis_rules "cp" shards ["seq"] fallback [] stores [] headtail attention all_to_all
