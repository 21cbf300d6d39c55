// RUN: titan-opt %s | titan-opt | FileCheck %s

// Two stages per rank, of different sizes.
// CHECK: dist.pipeline "pp" over "layers" layers_per_stage [3, 3, 2, 2] schedule "interleaved_1f1b" microbatches 8
dist.mesh @mesh [#dist.axis<pp = 2>, #dist.axis<shard = auto>]
dist.axis_rules "pp" shards [] fallback [] stores []
dist.pipeline "pp" over "layers" layers_per_stage [3, 3, 2, 2] schedule "interleaved_1f1b" microbatches 8
