// RUN: titan-opt --dist-fetch-offloaded=offload=params %s | FileCheck %s
// RUN: titan-opt --dist-fetch-offloaded=offload=params --dist-prefetch-gathers --dist-verify-overlap %s | FileCheck %s --check-prefix=AHEAD
// RUN: titan-opt --dist-fetch-offloaded=offload=optimizer %s | FileCheck %s --check-prefix=NONE

// NONE-NOT: titan.copy

dist.mesh @mesh [#dist.axis<a = 2>]
!i = !titan.tensor<i64[], <[]>>
!w = !titan.tensor<f32[layers = 3, x = 8], <[{}, {}] flat 1 {a}>>
!s = !titan.tensor<f32[x = 8], <[{}] flat 0 {a}>>
!x = !titan.tensor<f32[x = 8], <[{}]>>

// A gather of an offloaded parameter reads a copy on the device, one copy per block.
// CHECK-LABEL: func.func @gathers
// CHECK: %[[C:.*]] = titan.copy %arg0
// CHECK-NEXT: dist.all_gather %[[C]]
// CHECK-NOT: titan.copy
// CHECK: dist.all_gather %[[C]]
func.func @gathers(%w: !s {titan.param = "w"}) -> (!x, !x) attributes {titan.program = "train"} {
  %g = dist.all_gather %w over ["a"] : !s -> !x
  %h = dist.all_gather %w over ["a"] : !s -> !x
  return %g, %h : !x, !x
}

// Elementwise operations read the memory of the host directly: updates, and casts before a gather.
// CHECK-LABEL: func.func @elementwise
// CHECK-NOT: titan.copy
!b = !titan.tensor<bf16[x = 8], <[{}] flat 0 {a}>>
!y = !titan.tensor<bf16[x = 8], <[{}]>>
func.func @elementwise(%w: !s {titan.param = "w"}, %v: !s {titan.state = "m.w"}) -> (!y, !s {titan.updates = 0}) attributes {titan.program = "train"} {
  %n = titan.cast %w : !s -> !b
  %g = dist.all_gather %n over ["a"] : !b -> !y
  %u = titan.add %w, %v : (!s, !s) -> !s
  return %g, %u : !y, !s
}

// A slot is copied in the body of the repeat. The copy of the next slot moves with its gather.
// CHECK-LABEL: func.func @slots
// CHECK: titan.repeat
// CHECK: ^bb0(%{{[^:]*}}: {{.*}}, %{{[^:]*}}: {{.*}}, %[[S:[^:]*]]: {{.*}}):
// CHECK-NEXT: %[[C:.*]] = titan.copy %[[S]]
// CHECK-NEXT: dist.all_gather %[[C]]
// AHEAD-LABEL: func.func @slots
// AHEAD: %[[W:.*]] = dist.layer %arg1[0]
// AHEAD: %[[C:.*]] = titan.copy %[[W]]
// AHEAD: %[[F:.*]] = dist.all_gather %[[C]] over ["a"] start 0
// AHEAD: titan.repeat <layers = 3> iter_args(%arg0, %[[F]], %[[C]])
// AHEAD: dist.wait 0 %{{.*}} reading
// AHEAD-NEXT: %[[N:.*]] = dist.layer %arg1[%{{.*}} + 1]
// AHEAD-NEXT: titan.copy %[[N]]
// AHEAD-NEXT: dist.all_gather
func.func @slots(%x: !x, %w: !w {titan.param = "w"}) -> !x attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!x, !w) -> !x {
  ^bb0(%l: !i, %c: !x, %wl: !s):
    %g = dist.all_gather %wl over ["a"] : !s -> !x
    %m = titan.mul %c, %g : (!x, !x) -> !x
    titan.yield %m : !x
  }
  return %y : !x
}
