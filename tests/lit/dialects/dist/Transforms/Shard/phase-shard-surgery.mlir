// RUN: split-file %s %t
// RUN: titan-opt --titan-phase-gradient %S/Inputs/surgery.mlir -o %t/whole

// Dimensions that are merged, split, cut, padded or renamed, masks from outside of the repeat and parameters
// used inside of it mean the same on every map.
// RUN: cat %t/heads.mlir %S/Inputs/surgery.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/heads.out
// RUN: titan-interpret %t/heads.out --ranks 4 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s
// RUN: cat %t/positions.mlir %S/Inputs/surgery.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/positions.out
// RUN: titan-interpret %t/positions.out --ranks 4 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s
// RUN: cat %t/features.mlir %S/Inputs/surgery.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/features.out
// RUN: titan-interpret %t/features.out --ranks 4 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s
// CHECK: step 2: equal

//--- heads.mlir
dist.mesh @mesh [#dist.axis<r = 2>, #dist.axis<t = 2>]
dist.map "r" splits ["batch"] otherwise [] stores ["params", "optimizer"]
dist.map "t" splits ["heads", "inner", "vocab"] otherwise ["seq"] stores []
//--- positions.mlir
dist.mesh @mesh [#dist.axis<r = 2>, #dist.axis<t = 2>]
dist.map "r" splits ["seq"] otherwise [] stores ["grads"]
dist.map "t" splits ["keys", "batch"] otherwise [] stores ["params", "grads", "optimizer"]
//--- features.mlir
dist.mesh @mesh [#dist.axis<r = 2>, #dist.axis<t = 2>]
dist.map "r" splits ["embed"] otherwise [] stores []
dist.map "t" splits ["pair", "inner", "head"] otherwise ["embed"] stores ["params", "grads", "optimizer"]
