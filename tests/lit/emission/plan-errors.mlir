// RUN: not titan-translate --titan-to-cpp -split-input-file %s 2>&1 | FileCheck %s
// RUN: not titan-translate --titan-to-cuda -split-input-file %s 2>&1 | FileCheck %s

// An incomplete plan is refused.
!t = !titan.tensor<f32[a = 2]>
// CHECK: error: has no integer as titan.events
module attributes {titan.persistent = []} {
  func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {
      titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 0>], titan.transient = [#titan.allocation<"x", !t, 0 to 9>]} {
    return {titan.argument_allocs = [#titan.alloc_ref<transient 0>]} %x : !t
  }
}

// -----

!t = !titan.tensor<f32[a = 2]>
// CHECK: error: expected 1 allocations as titan.argument_allocs, got none; run --titan-plan-memory first
module attributes {titan.persistent = []} {
  func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {titan.events = 2 : i64,
      titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 0>], titan.transient = [#titan.allocation<"x", !t, 0 to 9>]} {
    return %x : !t
  }
}

// -----

!t = !titan.tensor<f32[a = 2]>
// CHECK: error: expected 1 allocations as titan.result_allocs, got 0
module attributes {titan.persistent = []} {
  func.func @train(%x: !t {titan.input = "x"}) -> (!t {titan.output = "y"}) attributes {titan.events = 2 : i64,
      titan.program = "train", titan.argument_allocs = [#titan.alloc_ref<transient 0>], titan.transient = [#titan.allocation<"x", !t, 0 to 9>]} {
    %y = titan.exp %x {titan.result_allocs = []} : !t -> !t
    return {titan.argument_allocs = [#titan.alloc_ref<transient 0>]} %y : !t
  }
}
