// RUN: split-file %s %t
// RUN: titan-opt --titan-phase-gradient %S/Inputs/decoder.mlir -o %t/whole

// The phase preserves the meaning of a training step under all axis rules: losses, gradients,
// updated parameters and state, two steps in float64, to 1e-12. Counts are of values, also in coalesced
// collectives.

// Replicas: one reduction a gradient, inside the body, and one of the loss; the norm needs none.
// RUN: cat %t/replicas.mlir %S/Inputs/decoder.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/replicas.out
// RUN: titan-interpret %t/replicas.out --ranks 2 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL
// RUN: grep -oE "dist\.[a-z_]+ %[^ ]+(, %[^ ]+)*" %t/replicas.out | awk '{for (i = 2; i <= NF; ++i) print $1, ""}' | sort | uniq -c | FileCheck %s --check-prefix=REPLICAS
// REPLICAS: 13 dist.all_reduce

// Fully sharded, with a degree fixed at launch: every parameter is gathered before its use, those of the body
// again in the backward body (9 of 12); every gradient is scattered; loss and norm are reduced.
// RUN: cat %t/stored.mlir %S/Inputs/decoder.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/stored.out
// RUN: titan-interpret %t/stored.out --auto 4 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL
// RUN: grep -oE "dist\.[a-z_]+ %[^ ]+(, %[^ ]+)*" %t/stored.out | awk '{for (i = 2; i <= NF; ++i) print $1, ""}' | sort | uniq -c | FileCheck %s --check-prefix=STORED
// STORED: 21 dist.all_gather
// STORED: 2 dist.all_reduce
// STORED: 12 dist.reduce_scatter

// Only optimizer state is sharded: gradients are reduce-scattered, parameters sliced, updated ones gathered.
// RUN: cat %t/state.mlir %S/Inputs/decoder.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/state.out
// RUN: titan-interpret %t/state.out --ranks 2 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL
// RUN: grep -oE "dist\.[a-z_]+ %[^ ]+(, %[^ ]+)*" %t/state.out | awk '{for (i = 2; i <= NF; ++i) print $1, ""}' | sort | uniq -c | FileCheck %s --check-prefix=STATE
// STATE: 12 dist.all_gather
// STATE: 2 dist.all_reduce
// STATE: 12 dist.local_slice
// STATE: 12 dist.reduce_scatter

// Heads, feed-forward and vocabulary are sharded, the residual stream by positions: no all-to-all, and one
// reduction of the norm for tensors with different shardings.
// RUN: cat %t/tensor.mlir %S/Inputs/decoder.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/tensor.out
// RUN: titan-interpret %t/tensor.out --ranks 2 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL
// RUN: grep -oE "dist\.[a-z_]+ %[^ ]+(, %[^ ]+)*" %t/tensor.out | awk '{for (i = 2; i <= NF; ++i) print $1, ""}' | sort | uniq -c | FileCheck %s --check-prefix=TENSOR
// TENSOR-NOT: dist.all_to_all
// TENSOR: 3 dist.make_partial
// TENSOR: 6 dist.reduce_scatter

// All of them on eight ranks.
// RUN: cat %t/cube.mlir %S/Inputs/decoder.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/cube.out
// RUN: titan-interpret %t/cube.out --ranks 8 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL

// An unusual sharding of features, so that norms, projections and logits are partial sums.
// RUN: cat %t/features.mlir %S/Inputs/decoder.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/features.out
// RUN: titan-interpret %t/features.out --ranks 2 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL

// The names of axes have no effect: renaming them renames the output.
// RUN: sed -e 's/axis_outer/z/g; s/axis_store/y/g; s/axis_inner/a/g' %t/cube.mlir > %t/renamed.mlir
// RUN: cat %t/renamed.mlir %S/Inputs/decoder.mlir | titan-opt --titan-phase-gradient --titan-phase-shard -o %t/renamed.out
// RUN: sed -e 's/axis_outer/z/g; s/axis_store/y/g; s/axis_inner/a/g' %t/cube.out | diff - %t/renamed.out

// Without a mesh there is one rank and no communication.
// RUN: titan-opt --titan-phase-gradient --titan-phase-shard %S/Inputs/decoder.mlir -o %t/alone.out
// RUN: titan-interpret %t/alone.out --ranks 1 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL
// RUN: not grep "dist\." %t/alone.out

// EQUAL: step 2: equal

//--- replicas.mlir
dist.mesh @mesh [#dist.axis<axis_outer = 2>]
dist.axis_rules "axis_outer" shards ["batch"] fallback [] stores []
//--- stored.mlir
dist.mesh @mesh [#dist.axis<axis_store = auto>]
dist.axis_rules "axis_store" shards ["batch"] fallback [] stores ["params", "grads", "optimizer"]
//--- state.mlir
dist.mesh @mesh [#dist.axis<axis_store = 2>]
dist.axis_rules "axis_store" shards ["batch"] fallback [] stores ["optimizer"]
//--- tensor.mlir
dist.mesh @mesh [#dist.axis<axis_inner = 2>]
dist.axis_rules "axis_inner" shards ["heads", "group", "ffn", "vocab"] fallback ["seq"] stores []
//--- cube.mlir
dist.mesh @mesh [#dist.axis<axis_outer = 2>, #dist.axis<axis_store = 2>, #dist.axis<axis_inner = 2>]
dist.axis_rules "axis_outer" shards ["batch"] fallback [] stores []
dist.axis_rules "axis_store" shards ["batch"] fallback [] stores ["params", "grads", "optimizer"]
dist.axis_rules "axis_inner" shards ["heads", "group", "ffn", "vocab"] fallback ["seq"] stores []
//--- features.mlir
dist.mesh @mesh [#dist.axis<wide = 2>]
dist.axis_rules "wide" shards ["embed"] fallback [] stores []
