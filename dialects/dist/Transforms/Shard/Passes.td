// From the global program to the program of one rank.

#ifndef TITAN_DIST_SHARD_PASSES_TD
#define TITAN_DIST_SHARD_PASSES_TD

include "mlir/Pass/PassBase.td"

def DistChooseAttention : Pass<"dist-choose-attention", "::mlir::ModuleOp"> {
  let summary = "chooses the method of attention of axes with `attention auto`";
  let description = [{
    For each axis with `attention auto`, the pass chooses the method with the least total time
    (`Analysis/AttentionTime.h`). The total is over all attention operations of the training programs whose
    positions the axis shards; an operation in a repeat counts once. All-to-all is no candidate in head-tail
    order, or if the degree does not divide the heads that the axis rules of the other axes leave to a rank.
    `dist.attention_times` keeps the times for reports.

    ```mlir
    dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention auto  // cp = 8
    // becomes
    dist.axis_rules "cp" shards ["seq"] fallback [] stores [] attention ring
        {dist.attention_times = "gather: 2.310 ms; ring: 1.125 ms; all_to_all: 8 does not divide the 6 heads of a rank"}
    ```

    The pass works on the module: it changes axis rules.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
  let statistics = [
    Statistic<"chosenMethods", "chosen methods", "Axes whose method of attention was open">
  ];
}

def DistPadDimensions : Pass<"dist-pad-dimensions", "::mlir::ModuleOp"> {
  let summary = "pads dimensions to a multiple of their degrees";
  let description = [{
    After the pass, each dimension that axis rules pad is a multiple of the product of the degrees of all axes
    that may shard it. The rules match the dimension's name or that of its origin. Everything else is
    unchanged: the program is still global and gives the same results.

    `Padding` in `Analysis/ShardingRule.h` decides per operation and factor:
    - isolated padding: the operation stays as it is;
    - reduced padding: `titan.select` writes the reduction's identity into the padding first. The mask is
      omitted if the padding is known to be 0 and the reduction is a sum; the pass tracks zeros through
      linear operations;
    - forbidden padding: the operation gets unpadded operands (`titan.slice`), and its results are padded
      again (`titan.pad`).

    The padding of iteration arguments, parameters, gradients and optimizer state is 0. `titan.unpadded`
    has the original sizes of arguments and results. Outputs are not padded.

    ```mlir
    dist.axis_rules "tp" shards ["vocab"] fallback [] stores [] pads ["vocab"]  // tp = 2
    %m = titan.reduce max %x : !titan.tensor<f32[seq = 8, vocab = 7]> -> !titan.tensor<f32[seq = 8]>
    // becomes, with %x of vocab = 8
    %i = titan.iota : !titan.tensor<i64[vocab = 8]>
    %n = titan.constant 7 : !titan.tensor<i64[]>
    %in = titan.compare lt %i, %n : (...) -> !titan.tensor<i1[vocab = 8]>
    %low = titan.constant 0xFFF0000000000000 : !titan.tensor<f32[]>
    %y = titan.select %in, %x, %low : (...) -> !titan.tensor<f32[seq = 8, vocab = 8]>
    %m = titan.reduce max %y : !titan.tensor<f32[seq = 8, vocab = 8]> -> !titan.tensor<f32[seq = 8]>
    ```

    The pass works on the module: it is the first to read the axis rules and reports faulty ones once.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def DistAssignShardings : Pass<"dist-assign-shardings", "::mlir::ModuleOp"> {
  let summary = "assigns the shardings that the axis rules state";
  let description = [{
    After the pass, sharding constraints, arguments and results of functions, and iteration arguments have a
    sharding. Axes are assigned from outer to inner. Each axis shards the first dimension of its `shards`
    that the tensor has and the degree divides, or else the first one of `fallback`. A renamed dimension
    matches the name of its origin if the tensor lacks the origin itself.

    Parameters, gradients and optimizer state are stored flat over the axes that store them. Values for the
    runtime (`titan.output`) are replicated. Existing shardings stay. An override replaces the rules for a
    parameter, sharding constraint or input of its name. An iteration argument has the name of its initial
    value's sharding constraint.

    Each result of a function gets a sharding constraint. That of a gradient is at its definition, inside
    the body of a repeat that stacks it, so that it is reduced there. That of any other result is at the
    return.

    ```mlir
    dist.axis_rules "tp" shards ["ffn"] fallback ["seq"] stores []
    %h = titan.sharding_constraint %0 : !titan.tensor<f32[seq = 8, ffn = 4]> -> !titan.tensor<f32[seq = 8, ffn = 4]>
    // becomes
    %h = titan.sharding_constraint %0 : !titan.tensor<f32[seq = 8, ffn = 4]> -> !titan.tensor<f32[seq = 8, ffn = 4], <[{}, {tp} ]>>
    ```

    The pass works on the module, because it reports faulty axis rules, which are no part of a function.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
}

def DistPropagate : Pass<"dist-propagate", "::mlir::func::FuncOp"> {
  let summary = "infers the shardings of all other values";
  let description = [{
    After the pass, every tensor has a sharding; existing ones are unchanged. Shardings propagate along the
    factors of the operations' rules (`Analysis/FactorPropagation.h`). They are preferences only:
    `--dist-insert-reshards` decides what each operation computes, partial sums included.

    Index tables (operations without operands) are first copied for each user, so that each copy is
    sharded as its user needs it, without communication.

    If an axis shards two factors of one operation, the dimension that its rules list first wins
    (`--dist-print-conflicts` lists such decisions). If the rules list neither, which requires overrides,
    the pass warns and names both origins.

    ```mlir
    %t = titan.tanh %h : !titan.tensor<f32[seq = 8, ffn = 4], <[{}, {tp} ]>> -> !titan.tensor<f32[seq = 8, ffn = 4]>
    // becomes
    %t = titan.tanh %h : !titan.tensor<f32[seq = 8, ffn = 4], <[{}, {tp} ]>> -> !titan.tensor<f32[seq = 8, ffn = 4], <[{}, {tp} ]>>
    ```
  }];
  let dependentDialects = ["::titan::dist::DistDialect"];
}

def DistInsertReshards : Pass<"dist-insert-reshards", "::mlir::func::FuncOp"> {
  let summary = "reshards operands to the shardings that operations need";
  let description = [{
    After the pass, operands and results of every operation satisfy its rule on every axis. Results that sum
    over a sharded dimension are `partial` in their type. Sharding constraints are gone. `dist.reshard`
    operations convert between shardings.

    An axis shards at most one factor of an operation (`Analysis/AxisAssignment.h`). A partial sum with one
    use passes through a linear operation, so that several partial sums share one reduction. A partial sum
    with several uses is reduced at its definition. An iteration argument to which a repeat only adds
    partial sums is partial itself and is reduced after the repeat.

    A reshard is inserted before the first use, in the block that defines the value, and serves all later
    uses. A stored parameter is thus gathered once per body, and a value from outside before the repeat.

    ```mlir
    %y = titan.contract %h, %w : ([{}, {tp} ], [{tp}, {} ]) -> [{tp}, {} ]      // shardings only
    // becomes
    %0 = titan.contract %h, %w : ([{}, {tp} ], [{tp}, {} ]) -> [{}, {} ] partial sum {tp}
    %y = dist.reshard %0 : [{}, {} ] partial sum {tp} -> [{tp}, {} ]
    ```
  }];
  let dependentDialects = ["::titan::dist::DistDialect"];
  let statistics = [
    Statistic<"insertedReshards", "inserted reshards", "Reshards between operations">
  ];
}

def DistJoinReductions : Pass<"dist-join-reductions", "::mlir::func::FuncOp"> {
  let summary = "adds partial sums before their reduction";
  let description = [{
    The terms of a sum that are reductions of partial sums, from one type to one type, are added first and reduced
    once. They have the type of the sum, and no other use; other terms may be repeated, as biases are. No repeat runs between a
    partial sum and the addition: it would keep the unreduced value, which is larger.

    ```mlir
    %1 = titan.add %x, %r0       // %r0 = dist.reshard %p0
    %2 = titan.add %1, %r1       // %r1 = dist.reshard %p1
    // becomes
    %p = titan.add %p0, %p1
    %r = dist.reshard %p
    %2 = titan.add %x, %r
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
  let statistics = [
    Statistic<"joinedReductions", "joined reductions", "Reductions that another one replaced">
  ];
}

def DistWidenReductions : Pass<"dist-widen-reductions", "::mlir::func::FuncOp"> {
  let summary = "reduces activations over ranks in the declared element type";
  let description = [{
    A function's `titan.precision` declares the types `compute` and `activations_reduce`. After the
    pass, each reshard that reduces a partial sum of type `compute` reduces in type `activations_reduce`. An operation
    that accumulates (such as `titan.contract`) produces the partial sum in the wider type; otherwise a
    cast is inserted. The reduced value is cast back.

    Gradients of parameters already have their declared type (`reduce`) and are unchanged. So are values
    that a precision region computes in another type.

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

def DistNarrowReshards : Pass<"dist-narrow-reshards", "::mlir::func::FuncOp"> {
  let summary = "communicates in the narrower of two element types";
  let description = [{
    A cast commutes with a reshard that does not reduce. After the pass, a reshard whose result was only cast to
    a narrower type follows the cast; this is typical of stored parameters. A value that is cast to a
    wider type and then resharded is resharded first.

    ```mlir
    %0 = dist.reshard %w : f32 [{}, {} ] flat 0 {shard} -> f32 [{}, {} ]
    %1 = titan.cast %0 : f32 [{}, {} ] -> bf16 [{}, {} ]
    // becomes
    %0 = titan.cast %w : f32 [{}, {} ] flat 0 {shard} -> bf16 [{}, {} ] flat 0 {shard}
    %1 = dist.reshard %0 : bf16 [{}, {} ] flat 0 {shard} -> bf16 [{}, {} ]
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
  let statistics = [
    Statistic<"movedCasts", "moved casts", "Casts on the other side of a reshard, so that it communicates fewer bytes">
  ];
}

def DistLowerReshards : Pass<"dist-lower-reshards", "::mlir::func::FuncOp"> {
  let summary = "lowers reshards to collectives";
  let description = [{
    After the pass, there is no `dist.reshard`. Each becomes a chain of collectives (`Analysis/CollectivePlan.h`).
    Slices precede reductions, and reductions precede gathers, to minimise the bytes sent.

    ```mlir
    %y = dist.reshard %0 : [{}, {} ] partial sum {tp} -> [{tp}, {} ]
    // becomes
    %y = dist.reduce_scatter %0 over ["tp"] : [{}, {} ] partial sum {tp} -> [{tp}, {} ]
    ```
  }];
  let dependentDialects = ["::titan::dist::DistDialect"];
}

def DistLowerRingAttention : Pass<"dist-lower-ring-attention", "::mlir::func::FuncOp"> {
  let summary = "lowers attention over sharded keys to a ring";
  let description = [{
    After the pass, attention whose keys and values are sharded along its positions is a repeat over the ranks
    of these axes (Liu, Zaharia and Abbeel, 2023). In step s a rank computes with the keys and values of
    the rank s positions before, while a permute brings those of the next step. Results are merged by
    their log-sum-exps, in f32 at least. In the gradient, the cotangents of queries are summed where they
    are, and those of keys and values follow these around the ring, back to their owner. The size of the
    program does not depend on the number of ranks.

    ```mlir
    %y, %lse = titan.attention %q, %k, %v along "seq" head "head" ...       // all sharded {cp} along seq
    // becomes, for four ranks
    %r:4 = titan.repeat <cp.ring = 3> iter_args(%k, %v, %zero, %minus_infinity) {
    ^bb0(%s, %ks, %vs, %y0, %l0):
      %next:2 = dist.permute %ks, %vs over ["cp"] by 1
      %y1, %l1 = titan.attention %q, %ks, %vs ring %s over ["cp"] along "seq" head "head" ...
      %y2, %l2 = ...                                                        // merged
      titan.yield %next#0, %next#1, %y2, %l2
    }
    %last = titan.constant 3
    %y1, %l1 = titan.attention %q, %r#0, %r#1 ring %last over ["cp"] along "seq" head "head" ...
    %y, %lse = ...                                                          // merged with %r#2, %r#3
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
}

def DistReturnUnreduced : Pass<"dist-return-unreduced", "::mlir::func::FuncOp"> {
  let summary = "returns the unreduced value of marked outputs";
  let description = [{
    Returns the unreduced value of an all-reduced result marked `titan.unreduced`. Each rank then sees its
    own term of the sum. Other results are unchanged. So is a sum with a term that all ranks share
    (`dist.make_partial`), because one rank alone holds that term.

    ```mlir
    %loss = dist.all_reduce %0 over ["dp"] : f32 [] partial sum {dp} -> f32 []
    return %loss, %loss : ... -> (... {titan.output = "loss"}, ... {titan.output = "local_loss", titan.unreduced})
    // becomes
    return %loss, %0
    ```
  }];
}

class CollectiveTimeOption<string name, string description>
    : Option<name, name, "::titan::dist::CollectiveTime", "::titan::dist::CollectiveTime::Auto", description,
             [{::llvm::cl::values(
               clEnumValN(::titan::dist::CollectiveTime::Auto, "auto", "Once per step in a pipeline"),
               clEnumValN(::titan::dist::CollectiveTime::Step, "step", "Once per step"),
               clEnumValN(::titan::dist::CollectiveTime::Microbatch, "microbatch", "Once per microbatch"))}]>;

def DistHoistCollectives : Pass<"dist-hoist-collectives", "::mlir::func::FuncOp"> {
  let summary = "moves collectives out of loops that repeat them";
  let description = [{
    A collective runs as often as the block in which it stands. Gathers of parameters that all iterations of a
    repeat over layers read whole move before it; a gathered parameter serves both passes. In a train program, two
    more moves:

    - *Reductions behind a loop.* An iteration argument that only adds up reduced values adds up partial sums
      instead, and one reduction follows the loop. The values may be slots of a stack: a repeat in the loop then
      stacks unreduced slots, and the whole stack is reduced. All-reduces always move, because a partial
      sum has the size of the sum. So gradients cross an axis that replicates parameters once a step, after they have
      been reduced to shards. Reduce-scatters move out of the loop over microbatches where `reduce` says `step`:
      each rank then keeps whole gradients, of its stage, instead of shards.
    - *Gathers before the loop over microbatches*, where `gather` says `step`. A repeat in the loop scans the
      gathered stack, in the forward and in the backward pass. There is one copy of the gathered parameters,
      however many microbatches a pipeline has in flight. With `microbatch`, gathers that stand before the loop
      move into its body instead.

    `auto` is `step` in a pipeline, as in TorchTitan, and otherwise `microbatch`. In a pipeline, gradients of
    parameters outside of layers are reduced once per step in any case: they may have terms on several stages. The options are the settings `sharding.gather` and `sharding.reduce` of the run.

    ```mlir
    %sum = titan.repeat <microbatches = 4> iter_args(%zero) scanned(%tokens) {
      %g = titan.repeat <layers = 2> reverse ... { %r = dist.all_reduce %p over ["replicate"] ... titan.yield %r }
      %next = titan.add %s, %g
      titan.yield %next
    }
    // becomes
    %sum = titan.repeat <microbatches = 4> iter_args(%partial_zero) scanned(%tokens) {
      %g = titan.repeat <layers = 2> reverse ... { ... titan.yield %p }
      %next = titan.add %s, %g
      titan.yield %next
    }
    %r = dist.all_reduce %sum over ["replicate"]
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
  let options = [
    CollectiveTimeOption<"gather", "When sharded parameters are gathered">,
    CollectiveTimeOption<"reduce", "When gradients are reduced to shards">
  ];
  let statistics = [
    Statistic<"sunkReductions", "sums reduced behind loops", "Sums that loops add up unreduced">,
    Statistic<"hoistedGathers", "gathers before the loop", "Gathers that run once per step instead of per microbatch">,
    Statistic<"sunkGathers", "gathers in the loop", "Gathers that run once per microbatch instead of per step">
  ];
}

def DistReshardAfterForward : Pass<"dist-reshard-after-forward", "::mlir::func::FuncOp"> {
  let summary = "chooses whether the backward pass gathers parameters again";
  let description = [{
    By the option `policy`, which the phase pipeline sets from `sharding.reshard_after_forward` of the run:
    - `default` changes nothing. The backward repeat gathers again what the forward repeat gathered.
      Gathers in the function's own block live until their last use.
    - `never`: the forward repeat stacks gathered parameters, and the backward repeat scans them. Not in a
      pipeline, which would stash the stack once per microbatch in flight.
    - `always`: no gathered value lives across a repeat. Later uses gather again, and so do the bodies of
      the repeat.

    ```mlir
    titan.repeat iter_args(...) scanned(%w) { %g = dist.all_gather %wl ... }
    titan.repeat reverse iter_args(...) scanned(%w) { %h = dist.all_gather %wl ... }
    // becomes, with `never`
    %gs = titan.repeat iter_args(...) scanned(%w) { %g = dist.all_gather %wl ...  titan.yield ..., %g }
    titan.repeat reverse iter_args(...) scanned(%w, %gs) { ... }
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
  let options = [
    Option<"policy", "policy", "::titan::dist::ReshardPolicy", "::titan::dist::ReshardPolicy::Default",
           "Whether the backward pass gathers parameters again", [{::llvm::cl::values(
             clEnumValN(::titan::dist::ReshardPolicy::Default, "default", "Those of layers"),
             clEnumValN(::titan::dist::ReshardPolicy::Always, "always", "All"),
             clEnumValN(::titan::dist::ReshardPolicy::Never, "never", "None"))}]>
  ];
}

def DistChunkProducts : Pass<"dist-chunk-products", "::mlir::func::FuncOp"> {
  let summary = "divides collectives of activations and their products into chunks";
  let description = [{
    A gathered value that a product reads, or a product that a reduction reads, is divided into two, three or four chunks
    of a dimension that the operation keeps. The overlap phase then runs the message of one chunk beside the product of
    another: asynchronous tensor parallelism (Wang et al. 2023, ASPLOS). Elements of a result depend on their own chunk alone, so that no sum changes. Chunk k of n has the elements
    i * n + k (`Chunks.h`), so that shards in block order have equal parts of every chunk. All products that read one
    gathered value share its chunks.

    By the option `policy`, from `sharding.chunk_products` of the run: `never`; `auto`, where chunks save time, as many
    as save most (`Analysis/ChunkTime.h`); `always`, where possible, as many as possible. `dist.chunk` of a collective says which chunk it is, `dist.whole` why its value is whole.
    Parameters stay whole: they are prefetched.

    ```mlir
    %g = dist.all_gather %x over ["tp"]
    %y = titan.contract %g, %w
    // becomes, with chunks of batch
    %g0 = dist.all_gather %x0 over ["tp"] {dist.chunk = "1 of 2 of batch"}
    %g1 = dist.all_gather %x1 over ["tp"] {dist.chunk = "2 of 2 of batch"}
    %y0 = titan.contract %g0, %w
    %y1 = titan.contract %g1, %w
    // %y joins %y0 and %y1
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
  let options = [
    Option<"policy", "policy", "::titan::dist::ChunkPolicy", "::titan::dist::ChunkPolicy::Never",
           "Which collectives of activations are divided", [{::llvm::cl::values(
             clEnumValN(::titan::dist::ChunkPolicy::Never, "never", "None"),
             clEnumValN(::titan::dist::ChunkPolicy::Auto, "auto", "Those whose chunks save time"),
             clEnumValN(::titan::dist::ChunkPolicy::Always, "always", "All that can be divided"))}]>
  ];
  let statistics = [
    Statistic<"dividedCollectives", "divided collectives", "Collectives that run in chunks beside products">
  ];
}

def DistBucketCollectives : Pass<"dist-bucket-collectives", "::mlir::func::FuncOp"> {
  let summary = "coalesces small collectives into buckets";
  let description = [{
    After the pass, collectives of one kind over the same axes are coalesced if they can run at one position of
    their block. `bucket-bytes` limits the size of a bucket (`Analysis/Buckets.h`), and no bucket crosses a repeat.

    Gathers run before their first use, and reductions after their last operand, since both keep live
    ranges of the larger side short. If a block reduces `min-split-bytes` or more, half of the bytes start earlier and
    overlap with computation. Each value is reduced in the same order as alone. Casts before gathers, and
    casts and reductions after reductions, are moved away and back (`CollectiveMotion.h`).

    ```mlir
    %q = dist.all_gather %wq over ["shard"] : T -> U
    %0 = titan.contract %x, %q : ...
    %o = dist.all_gather %wo over ["shard"] : V -> W
    // becomes
    %q, %o = dist.all_gather %wq, %wo over ["shard"] : T, V -> U, W
    %0 = titan.contract %x, %q : ...
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect", "::titan::dist::DistDialect"];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "int64_t{32} << 20",
           "Bytes of a bucket, at which bandwidth dominates latency">,
    Option<"minSplitBytes", "min-split-bytes", "int64_t", "int64_t{1} << 20",
           "Bytes from which on the reductions of a block are split into two messages">
  ];
  let statistics = [
    Statistic<"buckets", "buckets", "Coalesced collectives">,
    Statistic<"mergedCollectives", "merged collectives", "Collectives inside buckets">
  ];
}

def DistVerify : Pass<"dist-verify", "::mlir::func::FuncOp"> {
  let summary = "verifies that each operation computes what the global program states";
  let description = [{
    Read-only; closes the shard phase. Every tensor has a sharding with axes of the mesh, whose degrees
    divide its dimensions. There are no sharding constraints and no reshards. For every operation and every
    axis, one of these holds:
    - operands and results are replicated over the axis;
    - the axis shards one factor in all operands and results that have it, and results without it are
      partial accordingly;
    - the operands of one jointly linear set are partial sums over the axis, and so are the results;
    - operands and results are flat over the axis, and the operation allows flat storage.

    A forgotten reduction therefore does not compile.
  }];
}

def DistPrintCollectives : Pass<"dist-print-collectives", "::mlir::ModuleOp"> {
  let summary = "lists the collectives of a program";
  let description = [{
    Read-only. Prints each collective with the name and source line of its value, its executions per step,
    and the bytes that a rank sends per execution (`Analysis/CollectiveReport.h`).

    ```
    @train
    all_gather     over shard               6 x       196608 bytes  layers.wq net.titan:21
    ```

    The pass works on the module, so that the functions are listed in order.
  }];
  let options = [Option<"autoDegree", "auto", "int64_t", "2", "degree of the axis whose degree is fixed at launch">];
}

def DistPrintConflicts : Pass<"dist-print-conflicts", "::mlir::ModuleOp"> {
  let summary = "lists conflicts of shardings and their resolution by the axis rules";
  let description = [{
    Read-only; runs after `--dist-assign-shardings`. Prints each operation of which an axis could shard
    several factors: the axis, the chosen dimension, the rejected ones, the origin of each, and the
    operation (`Transforms/Shard/ConflictReport.h`). Rejected shardings cost communication.

    ```
    @train
    tp  ffn of layers.up net.titan:21, not seq of x net.titan:24; h net.titan:30
    ```

    The pass works on the module, so that the functions are listed in order.
  }];
}

#endif // TITAN_DIST_SHARD_PASSES_TD
