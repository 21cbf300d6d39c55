// Mesh, axis rules, reshards and collectives.

#ifndef TITAN_DIST_OPS_TD
#define TITAN_DIST_OPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "dialects/dist/IR/DistAttrs.td"
include "dialects/titan/IR/TitanOpBase.td"

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

def Dist_MeshOp : Dist_Op<"mesh", [Symbol]> {
  let summary = "the machine as named axes, outer to inner";
  let description = [{
    Ranks are numbered row-major: the last axis varies fastest.

    Constraints:
    - (C1) axis names are distinct.
    - (C2) degrees are at least 1, or `auto` for at most one axis.

    Example: `dist.mesh @mesh [#dist.axis<shard = auto>, #dist.axis<tp = 2>]`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedArrayAttrBase<Dist_MeshAxisAttr, "mesh axes">:$axes);
  let assemblyFormat = "$sym_name $axes attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The module's mesh, or null where there is none (one process).
    static MeshOp lookup(::mlir::Operation *from);
    bool hasAxis(::mlir::StringAttr axis);
    /// Degree of `axis`: 0 for auto, 1 for an unknown axis.
    int64_t getDegree(::mlir::StringAttr axis);
    /// Number of ranks; 0 while an axis is auto.
    int64_t getNumRanks();
  }];
}

def Dist_AxisRulesOp : Dist_Op<"axis_rules"> {
  let summary = "logical axis rules of one mesh axis";
  let description = [{
    One line of the user's `parallel` declaration. The axis shards the first dimension of `shards` that a
    tensor has, or else the first one of `fallback`. It stores the kinds of state in `stores` as shards.
    The dimensions in `pads` are padded to a multiple of the degree. With `headtail`, the axis shards
    dimensions in head-tail order (`#dist.sharding`); at most one axis of a module does.

    `attention` is the method of attention whose positions the axis shards. Each rank has its queries and
    - `gather`, the default: gathers all keys and values;
    - `ring`: passes keys and values around the ranks, one shard at a time;
    - `all_to_all`: moves the axis to another dimension, usually the heads, and back;
    - `auto`: one of these, which `--dist-choose-attention` chooses by time.

    `dist.overrides` replaces `shards`, `stores` or both for the tensors in `names`. With
    `of = "parameters"` an entry applies to parameters, their gradients and their optimizer state. With
    `of = "values"` it applies to sharding constraints. An entry inherits what it does not set. If several
    entries name one tensor, the last one wins.

    Constraints:
    - (C1) `axis` is an axis of the mesh.
    - (C2) `stores` holds only "params", "grads", "optimizer".
    - (C3) `pads` names only dimensions of `shards` and `fallback`.
    - (C4) each entry of `dist.overrides` is a dictionary of `of` ("parameters" or "values"), `names`
      and optionally `shards`; entries of parameters may have `stores`. All but `of` are lists of strings.
    - (C5) the degree of an axis with `headtail`, or with an `attention` other than `gather`, is not `auto`.
    - (C6) an axis with `headtail` has no `attention all_to_all`.

    Examples:
    ```mlir
    dist.axis_rules "tp" shards ["ffn"] fallback ["seq"] stores [] {dist.overrides = [
      {of = "parameters", names = ["table"], shards = ["embed"], stores = []},
      {of = "values", names = ["layers.h"], shards = []} ]}
    ```

    Example: `dist.axis_rules "tp" shards ["heads", "ffn"] fallback ["seq"] stores []`
  }];
  let arguments = (ins StrAttr:$axis, StrArrayAttr:$shards, StrArrayAttr:$fallback, StrArrayAttr:$stores,
                       OptionalAttr<StrArrayAttr>:$pads, UnitAttr:$head_tail,
                       DefaultValuedAttr<Dist_AttentionMethod, "AttentionMethod::Gather">:$attention);
  let assemblyFormat = [{
    $axis `shards` $shards `fallback` $fallback `stores` $stores (`pads` $pads^)? (`headtail` $head_tail^)?
    (`attention` $attention^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Dist_PipelineOp : Dist_Op<"pipeline"> {
  let summary = "the stages of the model along an axis of the mesh";
  let description = [{
    The repeats over the dimensions `dims`, one after the other, are cut into consecutive stages, and the
    ranks along `axis` execute different stages. `layers_per_stage` contains the iterations of each stage, in order. With
    `by_cost` these numbers are preliminary: `--titan-balance-stages` replaces them.
    `schedule` decides which stages a rank has, and the order in which they process the
    `microbatches` of a step: it is the name of an algorithm or a table of actions
    (`base/schedule/Source.h`). The axis shards no tensor. Without this operation the program has one
    stage.

    Constraints:
    - (C1) `axis` is an axis of the mesh, and its degree is not `auto`.
    - (C2) the number of stages is at least 2, and a multiple of the degree if `schedule` is a name.
    - (C3) every stage has at least one layer, and a step has at least one microbatch.
    - (C4) a module has at most one pipeline.
    - (C5) a table can run (`base/schedule/Verify.h`), and has the ranks, stages and microbatches of
      the pipeline.
    - (C6) no dimension occurs twice.

    Example:
    ```mlir
    dist.pipeline "pp" over "layers" layers_per_stage [3, 3, 2, 2] schedule "1f1b" microbatches 8
    ```

    An encoder and a decoder with different numbers of layers have two dimensions: `over "layers", "layers_1"`.
  }];
  let arguments = (ins StrAttr:$axis, StrArrayAttr:$dims, DenseI64ArrayAttr:$layers_per_stage,
                       UnitAttr:$by_cost, StrAttr:$schedule, I64Attr:$microbatches);
  let assemblyFormat = [{
    $axis `over` custom<Names>($dims) `layers_per_stage` $layers_per_stage (`by_cost` $by_cost^)? `schedule` $schedule
    `microbatches` $microbatches attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The pipeline of the module around `from`; null if there is one stage.
    static PipelineOp lookup(::mlir::Operation *from);
    int64_t getNumStages() { return getLayersPerStage().size(); }
    /// Whether repeats over `dim` are cut.
    bool isOver(::mlir::StringAttr dim) { return ::llvm::is_contained(getDims(), dim); }
    /// The sum of the layers of all stages.
    int64_t getNumLayers();
  }];
}

class Dist_NamedOp<string mnemonic, list<Trait> traits = []> : Dist_Op<mnemonic, !listconcat(traits, [
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>])> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      ::titan::dist::setResultNames(getOperation(), setName);
    }
  }];
}

class Dist_ConversionOp<string mnemonic, list<Trait> traits = []>
    : Dist_NamedOp<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs Titan_Tensor:$result);
}

def Dist_ReshardOp : Dist_ConversionOp<"reshard"> {
  let summary = "the same global value with another sharding";
  let description = [{
    Converts between any two shardings, partial values included. `--dist-lower-reshards` lowers it to
    collectives.

    Constraints:
    - (C1) operand and result are equal up to sharding.

    Example: `%y = dist.reshard %x : !titan.tensor<f32[seq = 8], <[{tp} ]>> -> !titan.tensor<f32[seq = 8], <[{} ]>>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "::titan::dist::ShardingAttr":$sharding), [{
      auto type = ::mlir::cast<::titan::ir::NamedTensorType>(input.getType()).withSharding(sharding);
      build($_builder, $_state, type, input);
    }]>
  ];
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

/// Marks operations that communicate within a process group. They have `inputs`, as many results,
/// `axes`, and optionally a `channel`.
def Dist_Collective : NativeOpTrait<"Collective"> {
  let cppNamespace = "::titan::dist";
}

class Dist_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Dist_NamedOp<mnemonic, !listconcat([Pure, Dist_Collective], traits)> {
  let arguments = (ins Variadic<Titan_Tensor>:$inputs, StrArrayAttr:$axes,
                       OptionalAttr<I64Attr>:$channel);
  let results = (outs Variadic<Titan_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `over` $axes (`start` $channel^)? attr-dict `:` type($inputs) `->` type($results)
  }];
  /// Semantics that all collectives share.
  string rules = [{

    One collective may carry several tensors in one message (a coalesced collective). Result i depends
    on operand i only.

    `start 3` starts the collective asynchronously. Its results are *in flight* on channel 3 until a
    `dist.wait` on that channel. Until then nobody may read the results or write the operands.

    Constraints:
    - (C1) as many results as operands, at least one; each result equals its operand up to sharding,
      and axes that remain on a dimension keep their order.
    - (C3) all operands have one element type and one reduction kind.
    - (C4) an axis that shards a dimension in head-tail order before or after is the only one of `axes`.
  }];
}

def Dist_AllGatherOp : Dist_CollectiveOp<"all_gather"> {
  let summary = "each rank of the group receives all shards";
  let description = "Removes `axes` from the end of one dimension's axis list, or from the flat axes." # rules # [{
    - (C2) the shardings differ exactly by `axes` at the end of one list. Flat storage that remains
      keeps its first dimension and the axes of all dimensions. Remaining partial axes keep their kind.

    Example: `%y = dist.all_gather %x over ["tp"] : T -> T`
  }];
  let hasCanonicalizer = 1;
}

def Dist_ReduceScatterOp : Dist_CollectiveOp<"reduce_scatter"> {
  let summary = "reduces partial values; each rank keeps its shard";
  let description = [{
    Moves `axes` from the partial axes to the end of one dimension's axis list, or to the flat axes.
  }] # rules # [{
    - (C2) as all_gather, with the partial axes as source.

    Example: `%y = dist.reduce_scatter %x over ["shard"] : T -> T`
  }];
}

def Dist_AllReduceOp : Dist_CollectiveOp<"all_reduce", [Titan_InPlace]> {
  let summary = "reduces partial values on all ranks";
  let description = "Removes `axes` from the partial axes." # rules # [{
    - (C2) as all_gather, with the partial axes as source.

    Example: `%y:2 = dist.all_reduce %x, %z over ["tp"] : T, U -> T, U`
  }];
}

def Dist_AllToAllOp : Dist_CollectiveOp<"all_to_all"> {
  let summary = "moves axes from one dimension to another";
  let description = "Removes `axes` from the end of one dimension's list and appends them to another's." # rules # [{
    - (C2) as all_gather, with exactly two lists changed.

    Example: `%y = dist.all_to_all %x over ["tp"] : T -> T`
  }];
}

def Dist_PermuteOp : Dist_NamedOp<"permute", [Pure, Dist_Collective]> {
  let summary = "each rank passes its shard to the rank at a fixed distance";
  let description = [{
    The rank at position p of the group over `axes` sends its shard to position p + `offset`, modulo the
    size of the group. If `axes` shard a dimension, the result is thus the operand, rotated by `offset`
    shards. One permute may carry several tensors, and `start` makes it asynchronous, as for all
    collectives. Ring attention passes keys and values to the next rank while it computes with those of
    this rank (Liu, Zaharia and Abbeel, 2023, section 3).

    Constraints:
    - (C1) as many results as operands, at least one; each result has the type of its operand.
    - (C2) `offset` is not 0.
    - (C3) all operands have one element type.

    Example:
    ```mlir
    %f:2 = dist.permute %k, %v over ["cp"] by 1 start 0 : T, U -> T, U
    %lse = ...
    %next:2 = dist.wait 0 %f#0, %f#1 reading %k, %v : (T, U, T, U) -> (T, U)
    ```
  }];
  let arguments = (ins Variadic<Titan_Tensor>:$inputs, StrArrayAttr:$axes, I64Attr:$offset,
                       OptionalAttr<I64Attr>:$channel);
  let results = (outs Variadic<Titan_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `over` $axes `by` $offset (`start` $channel^)? attr-dict `:` type($inputs) `->`
    type($results)
  }];
}

/// Marks the two ends of a message. They have `axes`, `offset` and optionally a `channel`, and occur
/// in the order of the program.
def Dist_Message : NativeOpTrait<"Message"> {
  let cppNamespace = "::titan::dist";
}

def Dist_SendOp : Dist_NamedOp<"send", [Dist_Message]> {
  let summary = "sends a value to the rank at a fixed distance";
  let description = [{
    The rank at position p of the group over `axes` sends its shard of `input` to position p + `offset`.
    If there is no such position, the operation does nothing. In this way one program serves all stages of
    a pipeline. The operation ends when the receiver has reached the matching `dist.receive`; with
    `start 3`, the wait on channel 3 ends then, and the operand must not change until that wait.

    Messages between two ranks arrive in the order of their sends. `--dist-verify-messages` proves that
    each message has both ends and that no rank waits forever.

    Constraints:
    - (C1) `offset` is not 0.

    Example: `dist.send %x over ["pp"] by 1 : T`
  }];
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes, I64Attr:$offset,
                       OptionalAttr<I64Attr>:$channel);
  let assemblyFormat = [{
    $input `over` $axes `by` $offset (`start` $channel^)? attr-dict `:` type($input)
  }];
}

def Dist_ReceiveOp : Dist_NamedOp<"receive", [Dist_Message, Titan_InPlace]> {
  let summary = "receives a value from the rank at a fixed distance";
  let description = [{
    The rank at position p of the group over `axes` receives what position p - `offset` sends by
    `dist.send ... by offset`. If there is no such position, the result is `input`: the first stage of a
    pipeline thus keeps its own value. With `start 3` the result is in flight on channel 3.

    Constraints:
    - (C1) the result has the type of `input`.
    - (C2) `offset` is not 0.

    Example: `%y = dist.receive %x over ["pp"] by 1 : T -> T`
  }];
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes, I64Attr:$offset,
                       OptionalAttr<I64Attr>:$channel);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = [{
    $input `over` $axes `by` $offset (`start` $channel^)? attr-dict `:` type($input) `->`
    type($result)
  }];
}

def Dist_WaitOp : Dist_NamedOp<"wait", [AttrSizedOperandSegments]> {
  let summary = "waits for an asynchronous collective or message";
  let description = [{
    Waits for the last start on `channel` and returns its results, of which a send has none. `reading`
    lists operands of the start that must stay unchanged until then; it extends their live ranges.

    Constraints:
    - (C1) the results have the types of `flights`.
    - (C2) a value in flight is a result of a start on this channel, or an iteration argument of a repeat.

    Example:
    ```mlir
    %f = dist.all_gather %x over ["shard"] start 3 : T -> U
    %y = dist.wait 3 %f reading %x : (U, T) -> U
    ```
  }];
  let arguments = (ins I64Attr:$channel, Variadic<Titan_Tensor>:$flights,
                       Variadic<Titan_Tensor>:$sources);
  let results = (outs Variadic<Titan_Tensor>:$results);
  let assemblyFormat = [{
    $channel $flights (`reading` $sources^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Dist_LayerOp : Dist_NamedOp<"layer", [Pure]> {
  let summary = "the slot of a stack at a given index";
  let description = [{
    A view of slot `offset` of `stack`, or of slot `index + offset` inside a repeat. If the stack has no such
    slot, a collective that starts on the value, or on a cast or copy of it, does not run. In this way the last
    iteration of a repeat prefetches nothing.

    Constraints:
    - (C1) the result has the type of a slot of `stack`.
    - (C2) `index` is the index of a repeat over the stack's first dimension; without one, `offset` is
      within the stack.

    Example: `%next = dist.layer %w[%l + 1] : !titan.tensor<f32[layers = 6, x = 8]> -> !titan.tensor<f32[x = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$stack, Optional<Titan_Tensor>:$index, I64Attr:$offset);
  let results = (outs Titan_Tensor:$result);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The slot's position in iteration `at` of the repeat.
    int64_t getPosition(int64_t at) { return (getIndex() ? at : 0) + static_cast<int64_t>(getOffset()); }
    /// Whether the stack has a slot at that position.
    bool exists(int64_t at);
  }];
}

class Dist_LocalOp<string mnemonic, list<Trait> traits = []> : Dist_ConversionOp<mnemonic, traits> {
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes);
  let assemblyFormat = "$input `over` $axes attr-dict `:` type($input) `->` type($result)";
}

def Dist_LocalSliceOp : Dist_LocalOp<"local_slice"> {
  let summary = "each rank keeps its shard of a replicated value; no communication";
  let description = [{
    Appends `axes` to one dimension's axis list, or to the flat axes.

    Constraints:
    - (C1) the result is equal to the operand up to sharding.
    - (C2) as all_gather, in reverse.

    Example: `%y = dist.local_slice %x over ["tp"] : T -> T`
  }];
  let hasFolder = 1;
}

def Dist_MakePartialOp : Dist_LocalOp<"make_partial", [Titan_InPlace]> {
  let summary = "a replicated value as a partial sum; no communication";
  let description = [{
    The first rank along `axes` keeps the value and the others hold 0. The result can be added to partial
    sums before their reduction.

    Constraints:
    - (C1) the result is equal to the operand up to sharding.
    - (C2) as all_gather, with `axes` added to the partial axes. None of `axes` is partial before. The
      kind is sum, or the kind of the operand.

    Example: `%y = dist.make_partial %x over ["tp"] : T -> T`
  }];
}

#endif // TITAN_DIST_OPS_TD
