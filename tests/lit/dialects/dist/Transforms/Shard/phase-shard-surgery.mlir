// RUN: split-file %s %t
// RUN: titan-opt --titan-phase-gradient %S/Inputs/surgery.mlir -o %t/whole

// Merged, split, sliced, padded and renamed dimensions, and masks and parameters captured by a repeat,
// have the same meaning under all axis rules.
// RUN: cat %t/heads.mlir %S/Inputs/surgery.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/heads.out
// RUN: titan-interpret %t/heads.out --ranks 4 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s
// RUN: cat %t/positions.mlir %S/Inputs/surgery.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/positions.out
// RUN: titan-interpret %t/positions.out --ranks 4 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s
// RUN: cat %t/features.mlir %S/Inputs/surgery.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/features.out
// RUN: titan-interpret %t/features.out --ranks 4 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s
// CHECK: step 2: equal

//--- heads.mlir
dist.mesh @mesh [#dist.axis<r = 2>, #dist.axis<t = 2>]
dist.axis_rules "r" shards ["batch"] fallback [] stores ["params", "optimizer"]
dist.axis_rules "t" shards ["heads", "inner", "vocab"] fallback ["seq"] stores []
//--- positions.mlir
dist.mesh @mesh [#dist.axis<r = 2>, #dist.axis<t = 2>]
dist.axis_rules "r" shards ["seq"] fallback [] stores ["grads"]
dist.axis_rules "t" shards ["keys", "batch"] fallback [] stores ["params", "grads", "optimizer"]
//--- features.mlir
dist.mesh @mesh [#dist.axis<r = 2>, #dist.axis<t = 2>]
dist.axis_rules "r" shards ["embed"] fallback [] stores []
dist.axis_rules "t" shards ["pair", "inner", "head"] fallback ["embed"] stores ["params", "grads", "optimizer"]
