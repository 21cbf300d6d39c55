// RUN: titan-opt --titan-plan-memory=offload=optimizer --titan-verify-memory %s | FileCheck %s --check-prefixes=STATE,CHECK
// RUN: titan-opt --titan-plan-memory=offload=optimizer,params --titan-verify-memory %s | FileCheck %s --check-prefixes=BOTH,CHECK
// RUN: titan-opt --titan-plan-memory %s | FileCheck %s --check-prefix=NONE

// STATE: titan.persistent = [
// STATE-SAME: #titan.allocation<"w", {{[^#]*}}, 0 to 0>
// STATE-SAME: #titan.allocation<"m.w", {{[^#]*}}, 0 to 0 on "host">
// STATE-SAME: #titan.allocation<"lr", {{[^#]*}}, 0 to 0>
// BOTH: titan.persistent = [
// BOTH-SAME: #titan.allocation<"w", {{[^#]*}}, 0 to 0 on "host">
// BOTH-SAME: #titan.allocation<"m.w", {{[^#]*}}, 0 to 0 on "host">
// BOTH-SAME: #titan.allocation<"lr", {{[^#]*}}, 0 to 0>
// NONE-NOT: on "host"

// An update overwrites its operands in place, in memory of the host or of the device.
// CHECK: titan.add {{.*}}titan.result_allocs = [#titan.alloc_ref<persistent 1>]
// CHECK: titan.sub {{.*}}titan.result_allocs = [#titan.alloc_ref<persistent 0>]
!t = !titan.tensor<f32[x = 8]>
func.func @train(%w: !t {titan.param = "w"}, %m: !t {titan.state = "m.w"}, %g: !t {titan.input = "g"},
                 %lr: !titan.tensor<f32[]> {titan.scalar = "lr"})
    -> (!t {titan.updates = 0 : i64}, !t {titan.updates = 1 : i64}) attributes {titan.program = "train"} {
  %new_m = titan.add %m, %g : (!t, !t) -> !t
  %new_w = titan.sub %w, %new_m : (!t, !t) -> !t
  return %new_w, %new_m : !t, !t
}
