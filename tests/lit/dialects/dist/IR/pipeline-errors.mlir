// RUN: titan-opt %s -split-input-file -verify-diagnostics

// A pipeline needs an axis.
// expected-error @below {{(C1) the mesh has no axis "pp"}}
dist.pipeline "pp" over "layers" layers_per_stage [1, 1] schedule "1f1b" microbatches 2

// -----

dist.mesh @mesh [#dist.axis<pp = auto>]
// The number of stages is fixed at compile time.
// expected-error @below {{(C1) the degree of axis "pp" is auto}}
dist.pipeline "pp" over "layers" layers_per_stage [1, 1] schedule "1f1b" microbatches 2

// -----

dist.mesh @mesh [#dist.axis<pp = 2>]
// All ranks have equally many stages.
// expected-error @below {{(C2) expected 2 stages or more, and a multiple of the degree 2, got 3}}
dist.pipeline "pp" over "layers" layers_per_stage [1, 1, 1] schedule "1f1b" microbatches 2

// -----

dist.mesh @mesh [#dist.axis<pp = 1>]
// A pipeline has at least two stages.
// expected-error @below {{(C2) expected 2 stages or more, and a multiple of the degree 1, got 1}}
dist.pipeline "pp" over "layers" layers_per_stage [4] schedule "1f1b" microbatches 2

// -----

dist.mesh @mesh [#dist.axis<pp = 2>]
// A stage has at least one layer.
// expected-error @below {{(C3) a stage has no layers: [2, 0]}}
dist.pipeline "pp" over "layers" layers_per_stage [2, 0] schedule "1f1b" microbatches 2

// -----

dist.mesh @mesh [#dist.axis<pp = 2>]
// A step has at least one microbatch.
// expected-error @below {{(C3) expected at least one microbatch, got 0}}
dist.pipeline "pp" over "layers" layers_per_stage [2, 1] schedule "1f1b" microbatches 0

// -----

dist.mesh @mesh [#dist.axis<pp = 2>]
dist.pipeline "pp" over "layers" layers_per_stage [2, 1] schedule "1f1b" microbatches 2
// A program has one pipeline.
// expected-error @below {{(C4) the module has two pipelines}}
dist.pipeline "pp" over "blocks" layers_per_stage [2, 1] schedule "1f1b" microbatches 2


// -----

dist.mesh @mesh [#dist.axis<pp = 2>]
// A table must not deadlock.
// expected-error @below {{(C5) deadlock: `0B0` (rank 0, column 2) waits for `1B0`}}
dist.pipeline "pp" over "layers" layers_per_stage [2, 1] schedule "0F0,0B0,0F1,0B1\0A1F0,1F1,1B0,1B1\0A" microbatches 2

// -----

dist.mesh @mesh [#dist.axis<pp = 2>]
// A table has the sizes of the pipeline.
// expected-error @below {{(C5) the table has 2 ranks, 2 stages and 1 microbatches}}
dist.pipeline "pp" over "layers" layers_per_stage [2, 1] schedule "0F0,0B0\0A1F0,1B0\0A" microbatches 2

// -----

dist.mesh @mesh [#dist.axis<pp = 2>]
// A pipeline lists each dimension of its repeats once.
// expected-error @below {{(C6) dimension "layers" occurs twice}}
dist.pipeline "pp" over "layers", "layers" layers_per_stage [2, 1] schedule "1f1b" microbatches 2
