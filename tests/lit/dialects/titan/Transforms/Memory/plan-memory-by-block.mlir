// RUN: titan-opt --titan-plan-memory --titan-verify-memory %s | FileCheck %s

// The shards of a block are contiguous: `a` and `b` are in one bucket, their moments in another.
// A tensor of another element type, or of other iterations, is in another bucket. `sum` is contiguous,
// because the reduction reads all of its slots as one range; `whole` is not sharded slot by slot.
// CHECK: titan.persistent = [
// CHECK-SAME: #titan.allocation<"layers.a", {{[^#]*}}, 0 to 0 in "layers">
// CHECK-SAME: #titan.allocation<"layers.b", {{[^#]*}}, 0 to 0 in "layers">
// CHECK-SAME: #titan.allocation<"m.layers.a", {{[^#]*}}, 0 to 0 in "m.layers">
// CHECK-SAME: #titan.allocation<"layers.narrow", {{[^#]*}}, 0 to 0 in "layers:2">
// CHECK-SAME: #titan.allocation<"layers.odd", {{[^#]*}}, 0 to 0 in "layers:3">
// CHECK-SAME: #titan.allocation<"layers.sum", {{[^#]*}}, 0 to 0>
// CHECK-SAME: #titan.allocation<"layers.whole", {{[^#]*}}, 0 to 0>
// CHECK-SAME: #titan.allocation<"table", {{[^#]*}}, 0 to 0>
dist.mesh @mesh [#dist.axis<shard = 2>]
!a = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}] flat 1 {shard}>>
!slice = !titan.tensor<f32[seq = 8], <[{}] flat 0 {shard}>>
!narrow = !titan.tensor<bf16[layers = 3, seq = 8], <[{}, {}] flat 1 {shard}>>
!whole = !titan.tensor<f32[layers = 3, seq = 8], <[{}, {}] flat 0 {shard}>>
!table = !titan.tensor<f32[seq = 8], <[{}] flat 0 {shard}>>
!partial = !titan.tensor<f32[], <[] partial sum {shard}>>
func.func @train(%a: !a {titan.param = "layers.a", titan.stacked}, %b: !a {titan.param = "layers.b", titan.stacked},
                 %m: !a {titan.state = "m.layers.a", titan.stacked},
                 %narrow: !narrow {titan.param = "layers.narrow", titan.stacked},
                 %odd: !a {titan.param = "layers.odd", titan.stacked = [array<i64: 1, 3, 5>]},
                 %sum: !a {titan.param = "layers.sum", titan.stacked},
                 %whole: !whole {titan.param = "layers.whole"}, %table: !table {titan.param = "table"})
    -> (!partial {titan.output = "loss"}, !a {titan.updates = 0 : i64}, !a {titan.updates = 2 : i64},
        !a {titan.updates = 1 : i64})
    attributes {titan.program = "train"} {
  %loss = titan.reduce sum %sum : !a -> !partial
  // A scanned input is one slot.
  // CHECK: titan.repeat {{.*}}titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient {{[0-9]+}}>, #titan.alloc_ref<persistent 0 at[0]>, #titan.alloc_ref<persistent 1 at[0]>]
  %t, %g = titan.repeat <layers = 3> iter_args(%table) scanned(%a, %b) : (!table, !a, !a) -> (!table, !a) {
  ^bb0(%l: !titan.tensor<i64[]>, %x: !slice, %ai: !slice, %bi: !slice):
    %y = titan.mul %ai, %bi : (!slice, !slice) -> !slice
    %z = titan.add %x, %y : (!slice, !slice) -> !slice
    titan.yield %z, %y : !slice, !slice
  }
  // Elementwise operations iterate over slots and overwrite the argument that they update.
  // CHECK: titan.add {{.*}}titan.result_allocs = [#titan.alloc_ref<persistent 2>]
  %new_m = titan.add %m, %g : (!a, !a) -> !a
  // CHECK: titan.sub {{.*}}titan.result_allocs = [#titan.alloc_ref<persistent 0>]
  %new_a = titan.sub %a, %new_m : (!a, !a) -> !a
  // A stacked output is contiguous; a copy updates the argument.
  // CHECK: titan.repeat {{.*}}titan.result_allocs = [#titan.alloc_ref<transient {{[0-9]+}}>, #titan.alloc_ref<transient {{[0-9]+}}>]
  %u, %new_b = titan.repeat <layers = 3> iter_args(%table) scanned(%b) : (!table, !a) -> (!table, !a) {
  ^bb0(%l: !titan.tensor<i64[]>, %x: !slice, %bi: !slice):
    titan.yield %x, %bi : !slice, !slice
  }
  // CHECK: titan.neg {{.*}}titan.result_allocs = [#titan.alloc_ref<persistent 1>]
  %newer_b = titan.neg %new_b : !a -> !a
  return %loss, %new_a, %new_m, %newer_b : !partial, !a, !a, !a
}
