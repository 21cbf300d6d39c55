// RUN: titan-opt %s --split-input-file --titan-balance-stages | FileCheck %s
// RUN: titan-opt %s --split-input-file --titan-balance-stages --titan-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: titan-balance-stages{{.*}}balancedStages

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>
!x = !titan.tensor<f32[batch = 4, in = 8]>
!v = !titan.tensor<f32[in = 8, vocab = 16]>
!w = !titan.tensor<f32[in = 8, in2 = 8]>
!y = !titan.tensor<f32[batch = 4, in2 = 8]>
!ws = !titan.tensor<f32[layers = 8, in = 8, in2 = 8]>

// The head costs as much as two layers, so the last stage has two layers fewer.
// CHECK: dist.pipeline "pp" over "layers" layers_per_stage [5, 3] schedule "1f1b" microbatches 2
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [4, 4] by_cost schedule "1f1b" microbatches 2
func.func @train(%x: !x {titan.input = "x"}, %ws: !ws {titan.param = "layers.w", titan.stacked}, %v: !v {titan.param = "v"})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %h = titan.repeat <layers = 8> iter_args(%x) scanned(%ws) : (!x, !ws) -> !x {
  ^bb0(%l: !i, %c: !x, %w: !w):
    %p = titan.contract %c, %w : (!x, !w) -> !y
    %q = titan.rename %p : <f32[batch = 4, in2 = 8]> -> <f32[batch = 4, in = 8]>
    titan.yield %q : !x
  }
  %logits = titan.contract %h, %v : (!x, !v) -> !titan.tensor<f32[batch = 4, vocab = 16]>
  %loss = titan.reduce sum %logits : <f32[batch = 4, vocab = 16]> -> <f32[]>
  return %loss : !s
}

// -----

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>
!w = !titan.tensor<f32[layers = 6]>

// Costs are equal. 1F1B keeps the residuals of most microbatches on the first stages, so that these get fewer layers.
// CHECK: layers_per_stage [1, 1, 2, 2] schedule "1f1b"
dist.mesh @mesh [#dist.axis<pp = 4>]
dist.pipeline "pp" over "layers" layers_per_stage [2, 2, 1, 1] by_cost schedule "1f1b" microbatches 4
func.func @train(%x: !s {titan.input = "x"}, %w: !w {titan.param = "layers.w", titan.stacked})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 6> iter_args(%x) scanned(%w) : (!s, !w) -> !s {
  ^bb0(%l: !i, %c: !s, %wl: !s):
    %p = titan.mul %c, %wl : (!s, !s) -> !s
    titan.yield %p : !s
  }
  return %y : !s
}

// -----

!s = !titan.tensor<f32[]>
!i = !titan.tensor<i64[]>

// Recomputed layers cost a third more: three of them take as much as four of the others.
// CHECK: layers_per_stage [3, 4] schedule "gpipe"
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [4, 3] by_cost schedule "gpipe" microbatches 4
func.func @train(%x: !s {titan.input = "x"}, %w: !titan.tensor<f32[layers = 7]> {titan.param = "layers.w", titan.stacked})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 7> table [0, 0, 0, 1, 1, 1, 1] iter_args(%x) scanned(%w) : (!s, !titan.tensor<f32[layers = 7]>) -> !s {
  ^bb0(%l: !i, %c: !s, %wl: !s):
    %p = titan.mul %c, %wl {titan.recompute} : (!s, !s) -> !s
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

// The pass keeps the layers per stage that the run states.
// CHECK: layers_per_stage [1, 5] schedule "1f1b"
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [1, 5] schedule "1f1b" microbatches 4
func.func @train(%x: !s {titan.input = "x"}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  return %x : !s
}
