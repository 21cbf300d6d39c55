// RUN: titan-opt -split-input-file %s | titan-opt -split-input-file | FileCheck %s

// Two stages per rank, of different sizes.
// CHECK: dist.pipeline "pp" over "layers" layers_per_stage [3, 3, 2, 2] schedule "interleaved_1f1b" microbatches 8
dist.mesh @mesh [#dist.axis<pp = 2>, #dist.axis<shard = auto>]
dist.axis_rules "pp" shards [] fallback [] stores []
dist.pipeline "pp" over "layers" layers_per_stage [3, 3, 2, 2] schedule "interleaved_1f1b" microbatches 8


// -----

// A table: three stages on two ranks.
// CHECK: dist.pipeline "pp" over "layers" layers_per_stage [1, 2, 1] schedule "0F0,2F0,2B0,0B0\0A1F0,1B0\0A" microbatches 1
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [1, 2, 1] schedule "0F0,2F0,2B0,0B0\0A1F0,1B0\0A" microbatches 1

// -----

// Repeats over two dimensions.
// CHECK: dist.pipeline "pp" over "layers", "layers_1" layers_per_stage [3, 2] by_cost schedule "1f1b" microbatches 2
dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers", "layers_1" layers_per_stage [3, 2] by_cost schedule "1f1b" microbatches 2
