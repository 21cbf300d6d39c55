// RUN: split-file %s %t
// RUN: titan-opt --titan-phase-gradient %S/Inputs/decoder.mlir -o %t/whole

// The phase preserves the meaning of a training step under all axis rules: losses, gradients,
// updated parameters and state, two steps in float64, to 1e-12. --dist-print-collectives lists the
// collectives in program order, those of a repeat with the number of their executions per step.

// Replicas: each gradient is reduced once, inside the body, and the loss once; the norm needs no reduction.
// RUN: cat %t/replicas.mlir %S/Inputs/decoder.mlir > %t/replicas.in
// RUN: titan-opt --titan-phase-gradient --titan-phase-shard --dist-print-collectives %t/replicas.in -o %t/replicas.out | FileCheck %s --check-prefix=REPLICAS
// RUN: titan-interpret %t/replicas.out --ranks 2 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL
// REPLICAS: @train
// REPLICAS: all_reduce over axis_outer 1 x {{.*}} 3 values
// REPLICAS: all_reduce over axis_outer 2 x {{.*}} 9 values
// REPLICAS: all_reduce over axis_outer 1 x 1024 bytes
// REPLICAS-NEXT: 3 collectives; a rank sends 26948 bytes a step

// Fully sharded, with a degree fixed at launch: every parameter is gathered before its use, parameters of the body
// again in the backward body (9 of 12); every gradient is reduce-scattered; loss and norm are reduced.
// RUN: cat %t/stored.mlir %S/Inputs/decoder.mlir > %t/stored.in
// RUN: titan-opt --titan-phase-gradient --titan-phase-shard --dist-print-collectives=auto=4 %t/stored.in -o %t/stored.out | FileCheck %s --check-prefix=STORED
// RUN: titan-interpret %t/stored.out --auto 4 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL
// STORED: @train
// STORED-NEXT: all_gather over axis_store 1 x 768 bytes
// STORED: all_gather over axis_store 2 x {{.*}} 9 values
// STORED: all_gather over axis_store 1 x {{.*}} 2 values
// STORED: all_reduce over axis_store 1 x 6 bytes
// STORED: reduce_scatter over axis_store 1 x {{.*}} 2 values
// STORED: all_gather over axis_store 2 x {{.*}} 9 values
// STORED: reduce_scatter over axis_store 2 x {{.*}} 9 values
// STORED: reduce_scatter over axis_store 1 x 768 bytes
// STORED-NEXT: all_reduce over axis_store 1 x 6 bytes
// STORED-NEXT: 9 collectives; a rank sends 59052 bytes a step

// Only optimizer state is sharded: gradients are reduce-scattered, parameters are sliced, and updated parameters are gathered.
// RUN: cat %t/state.mlir %S/Inputs/decoder.mlir > %t/state.in
// RUN: titan-opt --titan-phase-gradient --titan-phase-shard --dist-print-collectives %t/state.in -o %t/state.out | FileCheck %s --check-prefix=STATE
// RUN: titan-interpret %t/state.out --ranks 2 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL
// RUN: FileCheck %s --check-prefix=SLICES --input-file=%t/state.out
// STATE: @train
// STATE-NEXT: all_reduce over axis_store 1 x 4 bytes
// STATE-NEXT: reduce_scatter over axis_store 1 x {{.*}} 2 values
// STATE: reduce_scatter over axis_store 2 x {{.*}} 9 values
// STATE: reduce_scatter over axis_store 1 x 512 bytes
// STATE-NEXT: all_reduce over axis_store 1 x 4 bytes
// STATE-COUNT-9: all_gather over axis_store 2 x
// STATE-NEXT: all_gather over axis_store 1 x {{.*}} 3 values
// STATE: 15 collectives; a rank sends 26952 bytes a step
// SLICES-COUNT-12: dist.local_slice
// SLICES-NOT: dist.local_slice

// Heads, feed-forward and vocabulary are sharded, the residual stream by positions: no all-to-all, and one
// reduction of the norm for tensors with different shardings.
// RUN: cat %t/tensor.mlir %S/Inputs/decoder.mlir > %t/tensor.in
// RUN: titan-opt --titan-phase-gradient --titan-phase-shard --dist-print-collectives %t/tensor.in -o %t/tensor.out | FileCheck %s --check-prefix=TENSOR --implicit-check-not=all_to_all
// RUN: titan-interpret %t/tensor.out --ranks 2 --vocab 16 --float64 --steps 2 --compare %t/whole | FileCheck %s --check-prefix=EQUAL
// RUN: FileCheck %s --check-prefix=PARTIAL --input-file=%t/tensor.out
// TENSOR: @train
// TENSOR-COUNT-6: reduce_scatter over axis_inner {{[12]}} x 2048 bytes
// TENSOR-NOT: reduce_scatter
// TENSOR: all_reduce over axis_inner 1 x 4 bytes
// TENSOR-NEXT: 23 collectives; a rank sends 51268 bytes a step
// PARTIAL-COUNT-3: dist.make_partial
// PARTIAL-NOT: dist.make_partial

// Replicas, stored shards and sharded heads together, on eight ranks.
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
