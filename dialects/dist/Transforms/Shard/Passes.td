//===- Passes.td - From the global program to one rank's part -------------===//

#ifndef TITAN_DIST_SHARD_PASSES_TD
#define TITAN_DIST_SHARD_PASSES_TD

include "mlir/Pass/PassBase.td"

def DistPadDimensions : Pass<"dist-pad-dimensions", "::mlir::ModuleOp"> {
  let summary = "makes dimensions longer until their axes divide them";
  let description = [{
    After it, in every tensor, a dimension that the map of an axis pads (by its name, or by the name of
    its origin) is as long as the product of the degrees of all axes that may split it demands, and all
    else is as before: the program still says nothing of ranks, and gives the same results.

    Operations are left as they are where padding stays apart (`Padding` in `Analysis/ShardingRule.h`).
    Where it would be reduced, `titan.select` puts the reduction's identity there first, unless it is
    known to be there: 0 is kept track of through what is linear. Where padding is forbidden, the
    operation gets its operands without it (`titan.slice`), and its results are padded again
    (`titan.pad`). Values in repeats' carries and parameters, gradients and optimizer state are 0 there;
    the sizes that these have without padding are `titan.unpadded`. Outputs are not padded.

    ```mlir
    dist.axis_rules "tp" shards ["vocab"] fallback [] stores [] pads ["vocab"]  // tp = 2
    %m = titan.reduce max %x : !titan.tensor<f32[seq = 8, vocab = 7]> -> !titan.tensor<f32[seq = 8]>
    // becomes, with %x of vocab = 8
    %i = titan.iota : !titan.tensor<i64[vocab = 8]>
    %n = titan.constant 7.0 : !titan.tensor<i64[]>
    %in = titan.compare lt %i, %n : (...) -> !titan.tensor<i1[vocab = 8]>
    %low = titan.constant 0xFFF0000000000000 : !titan.tensor<f32[]>
    %y = titan.select %in, %x, %low : (...) -> !titan.tensor<f32[seq = 8, vocab = 8]>
    %m = titan.reduce max %y : !titan.tensor<f32[seq = 8, vocab = 8]> -> !titan.tensor<f32[seq = 8]>
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def DistAssignShardings : Pass<"dist-assign-shardings", "::mlir::ModuleOp"> {
  let summary = "binds what the user declared to the mesh";
  let description = [{
    After it, sharding constraints, function arguments and results and what repeats carry have a sharding, found by
    the names of their dimensions: axis by axis, outer to inner, the first dimension of the axis's
    `splits` that the tensor has and that the axis can split, else the first of `otherwise`. A renamed
    dimension goes by the name of its origin where the origin itself is absent. Parameters, gradients
    and optimizer state are stored flat over the axes that store them. What the runtime reads
    (`titan.output`) is replicated. Types that have a sharding already keep it. Where an override
    of a map speaks of a tensor by its name (a parameter's, a sharding constraint's, an input's), it decides for the
    axis; what a repeat carries goes by the name of the constraint that it starts from.

    A function's result becomes a sharding constraint: a gradient where it is made (inside the body of the repeat
    that stacks it, so that it is reduced there), any other result where it is returned.

    ```mlir
    dist.axis_rules "tp" shards ["ffn"] fallback ["seq"] stores []
    %h = titan.sharding_constraint %0 : !titan.tensor<f32[seq = 8, ffn = 4]> -> !titan.tensor<f32[seq = 8, ffn = 4]>
    // becomes
    %h = titan.sharding_constraint %0 : !titan.tensor<f32[seq = 8, ffn = 4]> -> !titan.tensor<f32[seq = 8, ffn = 4], <[{}, {tp} ]>>
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
}

def DistPropagate : Pass<"dist-propagate", "::mlir::ModuleOp"> {
  let summary = "infers the shardings of all other values";
  let description = [{
    After it every tensor has a sharding; those that had one are unchanged. Shardings follow the
    factors of the operations' rules (`Analysis/FactorPropagation.h`). They are wishes: what an
    operation really gives, partial sums included, is settled by `--dist-insert-reshards`.

    An index table (an operation without operands) is copied for each of its users first, so that each
    gets the part that it needs without communication.

    Where what an operation has in common is split in two ways by one axis, the dimension that the axis's map
    lists first is kept (`--dist-print-conflicts` lists these). Where it lists none of them, which only
    overrides of the map bring about, that is a warning with both origins.

    ```mlir
    %t = titan.tanh %h : !titan.tensor<f32[seq = 8, ffn = 4], <[{}, {tp} ]>> -> !titan.tensor<f32[seq = 8, ffn = 4]>
    // becomes
    %t = titan.tanh %h : !titan.tensor<f32[seq = 8, ffn = 4], <[{}, {tp} ]>> -> !titan.tensor<f32[seq = 8, ffn = 4], <[{}, {tp} ]>>
    ```
  }];
}

def DistInsertReshards : Pass<"dist-insert-reshards", "::mlir::ModuleOp"> {
  let summary = "makes every operation's operands lie as the operation needs them";
  let description = [{
    After it operands and results of every operation satisfy its rule on every axis, results that are
    sums over a split dimension have it in their type (`partial`), and sharding constraints are gone. In between
    stand `dist.reshard` operations.

    By an axis an operation splits one factor (`Analysis/AxisAssignment.h`) or none. A partial sum that
    one operation alone uses passes through it if it is linear there, so that several partial sums are
    merged before one reduction; a partial sum with several uses is reduced where it is made. What a repeat
    only adds partial sums to is carried as a partial sum and reduced after it. A reshard
    stands before its first use, in the block that defines the value, and serves all later uses: a
    stored parameter is gathered once per body, a value from outside of a repeat before the repeat.

    ```mlir
    %y = titan.contract %h, %w : ([{}, {tp} ], [{tp}, {} ]) -> [{tp}, {} ]      // shardings only
    // becomes
    %0 = titan.contract %h, %w : ([{}, {tp} ], [{tp}, {} ]) -> [{}, {} ] partial sum {tp}
    %y = dist.reshard %0 : [{}, {} ] partial sum {tp} -> [{tp}, {} ]
    ```
  }];
  let dependentDialects = ["::titan::dist::DistDialect"];
}

def DistWidenReductions : Pass<"dist-widen-reductions", "::mlir::ModuleOp"> {
  let summary = "makes sums of activations over processes in the declared element type";
  let description = [{
    `titan.precision` of a function declares the type `activations_reduce`. After it, a reshard that reduces
    a partial sum of the type `compute` works in that one: what makes the partial sum gives it in that type where
    it can (`titan.contract` and others that sum), else it is cast; the reduced value is cast back.
    Gradients of parameters have a declared type of their own (`reduce`) since they were made, and stay as
    they are; so does what an island computes in another type.

    ```mlir
    %0 = titan.contract %a, %w : (bf16 [{}, {tp} ], bf16 [{tp}, {} ]) -> bf16 [{}, {} ] partial sum {tp}
    %y = dist.reshard %0 : bf16 [{}, {} ] partial sum {tp} -> bf16 [{}, {} ]
    // becomes, with activations_reduce = f32
    %0 = titan.contract %a, %w : (bf16 [{}, {tp} ], bf16 [{tp}, {} ]) -> f32 [{}, {} ] partial sum {tp}
    %1 = dist.reshard %0 : f32 [{}, {} ] partial sum {tp} -> f32 [{}, {} ]
    %y = titan.cast %1 : f32 [{}, {} ] -> bf16 [{}, {} ]
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
}

def DistNarrowReshards : Pass<"dist-narrow-reshards", "::mlir::ModuleOp"> {
  let summary = "sends the narrower of two element types";
  let description = [{
    A cast commutes with a reshard that moves elements and does not add them up. After it, where a gathered value is
    only cast to a narrower type, the parts are cast before they are gathered (stored parameters
    on their way into the computation), and where a value is cast to a wider type and then resharded, it is
    resharded first.

    ```mlir
    %0 = dist.reshard %w : f32 [{}, {} ] flat 0 {shard} -> f32 [{}, {} ]
    %1 = titan.cast %0 : f32 [{}, {} ] -> bf16 [{}, {} ]
    // becomes
    %0 = titan.cast %w : f32 [{}, {} ] flat 0 {shard} -> bf16 [{}, {} ] flat 0 {shard}
    %1 = dist.reshard %0 : bf16 [{}, {} ] flat 0 {shard} -> bf16 [{}, {} ]
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
}

def DistLowerReshards : Pass<"dist-lower-reshards", "::mlir::ModuleOp"> {
  let summary = "replaces reshards by collectives";
  let description = [{
    After it no `dist.reshard` is left. Each becomes a chain of collectives
    (`Analysis/CollectivePlan.h`), each of which changes one thing: slices before reductions before
    gathers, so that little is sent.

    ```mlir
    %y = dist.reshard %0 : [{}, {} ] partial sum {tp} -> [{tp}, {} ]
    // becomes
    %y = dist.reduce_scatter %0 over ["tp"] : [{}, {} ] partial sum {tp} -> [{tp}, {} ]
    ```
  }];
  let dependentDialects = ["::titan::dist::DistDialect"];
}

def DistReturnUnreduced : Pass<"dist-return-unreduced", "::mlir::ModuleOp"> {
  let summary = "gives each rank's summand of an output that may be one";
  let description = [{
    After it, a result of a function that has `titan.unreduced` and was the sum of all ranks' values is
    these values, a partial sum: the same output, of which a rank can see its own part. Others stay as they are,
    and so does a sum with a term that all ranks have alike (`dist.make_partial`), which one of them adds.

    ```mlir
    %loss = dist.all_reduce %0 over ["dp"] : f32 [] partial sum {dp} -> f32 []
    return %loss, %loss : ... -> (... {titan.output = "loss"}, ... {titan.output = "local_loss", titan.unreduced})
    // becomes
    return %loss, %0
    ```
  }];
}

def DistReshardAfterForward : Pass<"dist-reshard-after-forward", "::mlir::ModuleOp"> {
  let summary = "applies what the run says of gathered parameters between forward and backward";
  let description = [{
    By the setting `sharding.reshard_after_forward` in `titan.run`:
    - `default` changes nothing: what a repeat's body gathers is gathered again in its backward, what the
      function's own block gathers is kept until its last use.
    - `never`: what a repeat's body gathered is stacked, and the backward takes its slice.
    - `always`: nothing gathered lives through a repeat: what is used behind it is gathered again there,
      and what its bodies use of a gather outside is gathered by them.

    ```mlir
    titan.repeat iter_args(...) scanned(%w) { %g = dist.all_gather %wl ... }
    titan.repeat reverse iter_args(...) scanned(%w) { %h = dist.all_gather %wl ... }
    // becomes, with `never`
    %gs = titan.repeat iter_args(...) scanned(%w) { %g = dist.all_gather %wl ...  titan.yield ..., %g }
    titan.repeat reverse iter_args(...) scanned(%w, %gs) { ... }
    ```
  }];
}

def DistBucketCollectives : Pass<"dist-bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "exchanges several small values as one message";
  let description = [{
    After it, collectives of one kind over the same axes that may stand at one place of their block are
    one collective of several values, up to a size from which bandwidth counts and not latency
    (`Analysis/Buckets.h`). None crosses a repeat. What grows (a gather) is exchanged before the first
    use, what shrinks (a reduction) where the last of its values is made; from a MiB a block on, half of
    the bytes that are reduced go ahead, so that something is left to compute beside them. Each value
    is reduced as it was alone, in the same order. Casts that gathers read, and what follows a
    reduction, move out of the way and back (`CollectiveMotion.h`).

    ```mlir
    %q = dist.all_gather %wq over ["shard"] : T -> U
    %0 = titan.contract %x, %q : ...
    %o = dist.all_gather %wo over ["shard"] : V -> W
    // becomes
    %q, %o = dist.all_gather %wq, %wo over ["shard"] : T, V -> U, W
    %0 = titan.contract %x, %q : ...
    ```
  }];
}

def DistVerify : Pass<"dist-verify", "::mlir::ModuleOp"> {
  let summary = "checks that every operation computes what the global program says";
  let description = [{
    Read-only; closes the shard phase. Every tensor has a sharding whose axes the mesh has and can
    split by; no sharding constraint and no reshard is left; and for every operation and every axis one of these
    holds: nothing has the axis; one factor is split by it in all operands and results that walk it,
    and results that lack it are partial accordingly; the operands of one jointly linear set are
    partial sums over it, and so are the results; or operands and results are stored flat over it and
    the operation allows that. So a forgotten reduction does not compile.
  }];
}

def DistPrintCollectives : Pass<"dist-print-collectives", "::mlir::ModuleOp"> {
  let summary = "lists what a program sends";
  let description = [{
    Read-only. Prints every collective with the name and source line of what it moves, how often it runs in
    a step, and the bytes that a rank sends each time (`Analysis/CollectiveReport.h`).

    ```
    @train
    all_gather     over shard               6 x       196608 bytes  layers.wq net.titan:21
    ```
  }];
  let options = [Option<"autoDegree", "auto", "int64_t", "2", "degree of the axis whose degree is fixed at launch">];
}

def DistPrintConflicts : Pass<"dist-print-conflicts", "::mlir::ModuleOp"> {
  let summary = "lists what the map's order decided";
  let description = [{
    Read-only; stands after `--dist-assign-shardings`. Prints where `--dist-propagate` finds an operation that one
    axis could split in several ways: the axis, the dimension that it splits, those that it does not, with the
    declared tensors that each split came from, and the operation (`Transforms/Shard/ConflictReport.h`).
    What is given up costs communication.

    ```
    @train
    tp  ffn of layers.up net.titan:21, not seq of x net.titan:24; h net.titan:30
    ```
  }];
}

#endif // TITAN_DIST_SHARD_PASSES_TD
