// RUN: titan-opt --titan-plan-memory --titan-verify-memory %s | FileCheck %s

!row = !titan.tensor<f32[seq = 8]>

// A cache that a repeat scans and stacks is replaced slot by slot: the result has the allocation of the
// argument. A second reader of the old stack prevents that.
// CHECK-LABEL: func.func @caches
func.func @caches(%x: !row {titan.input = "x"}, %p: !titan.tensor<i64[]> {titan.scalar = "position"},
                  %k: !titan.tensor<f32[layers = 3, seq = 8]> {titan.cache = "k"},
                  %v: !titan.tensor<f32[layers = 3, seq = 8]> {titan.cache = "v"})
    -> (!row {titan.output = "y"}, !titan.tensor<f32[layers = 3, seq = 8]> {titan.updates = 2 : i64},
        !titan.tensor<f32[layers = 3, seq = 8]> {titan.updates = 3 : i64}, !titan.tensor<f32[seq = 8]> {titan.output = "old"})
    attributes {titan.program = "caches"} {
  // CHECK: titan.repeat
  // CHECK-SAME: titan.argument_allocs = [#titan.alloc_ref<inline 0>, #titan.alloc_ref<transient {{[0-9]+}}>, #titan.alloc_ref<persistent [[K:[0-9]+]] at[0]>, #titan.alloc_ref<persistent {{[0-9]+}} at[0]>]
  // CHECK-SAME: titan.result_allocs = [#titan.alloc_ref<transient {{[0-9]+}}>, #titan.alloc_ref<persistent [[K]]>, #titan.alloc_ref<transient {{[0-9]+}}>]
  %y, %ks, %vs = titan.repeat <layers = 3> iter_args(%x) scanned(%k, %v)
      : (!row, !titan.tensor<f32[layers = 3, seq = 8]>, !titan.tensor<f32[layers = 3, seq = 8]>)
     -> (!row, !titan.tensor<f32[layers = 3, seq = 8]>, !titan.tensor<f32[layers = 3, seq = 8]>) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !row, %kl: !row, %vl: !row):
    // CHECK: titan.insert_slice {{.*}}titan.result_allocs = [#titan.alloc_ref<persistent [[K]] at[0]>]
    %n = titan.insert_slice %c into %kl dim "seq" from %p : (!row, !row, !titan.tensor<i64[]>) -> !row
    %m = titan.insert_slice %c into %vl dim "seq" from %p : (!row, !row, !titan.tensor<i64[]>) -> !row
    %next = titan.add %n, %m : (!row, !row) -> !row
    titan.yield %next, %n, %m : !row, !row, !row
  }
  %old = titan.reduce sum %v : !titan.tensor<f32[layers = 3, seq = 8]> -> !row
  return %y, %ks, %vs, %old : !row, !titan.tensor<f32[layers = 3, seq = 8]>, !titan.tensor<f32[layers = 3, seq = 8]>, !row
}
