//===- DistOps.td - The mesh, reshards and collectives --------------------===//

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
    /// Degree of `axis`: 0 for auto, 1 for an unknown axis.
    int64_t getDegree(::mlir::StringAttr axis);
    /// Number of ranks; 0 while an axis is auto.
    int64_t getNumRanks();
  }];
}

def Dist_AxisRulesOp : Dist_Op<"axis_rules"> {
  let summary = "the user's mapping of dimensions to one mesh axis";
  let description = [{
    What a line of a `parallel` declaration says: the axis splits the first dimension of `splits` that
    a tensor has, else the first of `otherwise`; and it stores the listed kinds of state in shards.
    Dimensions that `pads` names are made longer until the axis divides them.

    `dist.overrides` says otherwise of some tensors: of the parameters (their gradients and optimizer
    state included) or of the anchored values called `names`, what the axis splits, what it stores, or
    both. What is absent is as for all tensors. Of several for one tensor the last decides.

    Constraints:
    - (C1) `axis` is an axis of the mesh.
    - (C2) `stores` holds only "params", "grads", "optimizer".
    - (C3) `pads` names only dimensions of `splits` and `otherwise`.
    - (C4) each of `dist.overrides` is a dictionary of `of`, which is "parameters" or "values", of lists
      of strings `names` and perhaps `splits`, and of parameters perhaps `stores`.

    Examples:
    ```mlir
    dist.axis_rules "tp" shards ["ffn"] fallback ["seq"] stores [] {dist.overrides = [
      {of = "parameters", names = ["table"], shards = ["embed"], stores = []},
      {of = "values", names = ["layers.h"], shards = []} ]}
    ```

    Example: `dist.axis_rules "tp" shards ["heads", "ffn"] fallback ["seq"] stores []`
  }];
  let arguments = (ins StrAttr:$axis, StrArrayAttr:$shards, StrArrayAttr:$fallback, StrArrayAttr:$stores,
                       OptionalAttr<StrArrayAttr>:$pads);
  let assemblyFormat = [{
    $axis `shards` $shards `fallback` $fallback `stores` $stores (`pads` $pads^)? attr-dict
  }];
  let hasVerifier = 1;
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

class Dist_ConversionOp<string mnemonic> : Dist_NamedOp<mnemonic, [Pure]> {
  let results = (outs Titan_Tensor:$result);
}

def Dist_ReshardOp : Dist_ConversionOp<"reshard"> {
  let summary = "the same global value, lying otherwise";
  let description = [{
    Any sharding to any other, partial values included; lowered to collectives by
    `--dist-lower-reshards`.

    Constraints:
    - (C1) operand and result are equal up to sharding.

    Example: `%y = dist.reshard %x : !titan.tensor<f32[seq = 8], <[{tp} ]>> -> !titan.tensor<f32[seq = 8], <[{} ]>>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

/// On operations in which the ranks of a group exchange something: they have `inputs`, as many
/// results, `axes`, and perhaps a `channel`.
def Dist_Collective : NativeOpTrait<"Collective"> {
  let cppNamespace = "::titan::dist";
}

class Dist_CollectiveOp<string mnemonic> : Dist_NamedOp<mnemonic, [Pure, Dist_Collective]> {
  let arguments = (ins Variadic<Titan_Tensor>:$inputs, StrArrayAttr:$axes,
                       OptionalAttr<I64Attr>:$channel);
  let results = (outs Variadic<Titan_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `over` $axes (`start` $channel^)? attr-dict `:` type($inputs) `->` type($results)
  }];
  /// What holds for all of them.
  string rules = [{

    Several values may be exchanged at once, as one message: result i comes of operand i alone.

    `start 3`: the exchange has only begun. The results are *in flight* on channel 3: a `dist.wait` on
    it gives them, and until then nobody may read them or write the operands.

    Constraints:
    - (C1) as many results as operands, at least one; each is equal to its operand up to sharding.
    - (C3) all operands have one element type, and one kind of partial values.
  }];
}

def Dist_AllGatherOp : Dist_CollectiveOp<"all_gather"> {
  let summary = "every rank of the group gets all parts";
  let description = "Removes `axes` from the end of one dimension's axis list, or from the flat axes." # rules # [{
    - (C2) the shardings differ exactly by `axes` at the end of one list. Flat storage that stays
      starts where it did and keeps its dimensions' axes; partial values that stay keep their kind.

    Example: `%y = dist.all_gather %x over ["tp"] : T -> T`
  }];
}

def Dist_ReduceScatterOp : Dist_CollectiveOp<"reduce_scatter"> {
  let summary = "partial values combined, every rank keeping its part";
  let description = [{
    Moves `axes` from the partial axes to the end of one dimension's axis list, or to the flat axes.
  }] # rules # [{
    - (C2) as all_gather, with the partial axes as source.

    Example: `%y = dist.reduce_scatter %x over ["shard"] : T -> T`
  }];
}

def Dist_AllReduceOp : Dist_CollectiveOp<"all_reduce"> {
  let summary = "partial values combined on every rank";
  let description = "Removes `axes` from the partial axes." # rules # [{
    - (C2) as all_gather, with the partial axes as source.

    Example: `%y:2 = dist.all_reduce %x, %z over ["tp"] : T, U -> T, U`
  }];
}

def Dist_AllToAllOp : Dist_CollectiveOp<"all_to_all"> {
  let summary = "axes move from one dimension to another";
  let description = "Removes `axes` from the end of one dimension's list and appends them to another's." # rules # [{
    - (C2) as all_gather, with exactly two lists changed.

    Example: `%y = dist.all_to_all %x over ["tp"] : T -> T`
  }];
}

def Dist_WaitOp : Dist_NamedOp<"wait", [AttrSizedOperandSegments]> {
  let summary = "values in flight have come";
  let description = [{
    Waits for what was started last on `channel` and gives its values. `reading` lists operands of the
    start that must not change until then, so that they live as long; where nothing is in flight but
    such operands are kept, there are no results.

    Constraints:
    - (C1) the results have the types of `flights`.
    - (C2) a value in flight is the result of a start on this channel, or what a repeat carries.

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
  let summary = "a slice of a stack, which no iteration gave";
  let description = [{
    The slice of `stack` at `offset`, or at a repeat's index plus `offset`. It is a view. Where the
    stack has no such slice, there is no value, and a collective that starts on it, or on what it is
    cast to, does not happen: that is how the last of a repeat's iterations prefetches nothing.

    Constraints:
    - (C1) the result is the type of a slice of `stack`.
    - (C2) `index` is the index of a repeat over the stack's first dimension; without one, `offset` is
      within the stack.

    Example: `%next = dist.layer %w[%l + 1] : !titan.tensor<f32[layers = 6, x = 8]> -> !titan.tensor<f32[x = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$stack, Optional<Titan_Tensor>:$index, I64Attr:$offset);
  let results = (outs Titan_Tensor:$result);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The slice's position where the repeat is at `at`.
    int64_t getPosition(int64_t at) { return (getIndex() ? at : 0) + static_cast<int64_t>(getOffset()); }
    /// Whether the stack has a slice at that position.
    bool exists(int64_t at);
  }];
}

class Dist_LocalOp<string mnemonic> : Dist_ConversionOp<mnemonic> {
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes);
  let assemblyFormat = "$input `over` $axes attr-dict `:` type($input) `->` type($result)";
}

def Dist_LocalSliceOp : Dist_LocalOp<"local_slice"> {
  let summary = "every rank keeps its part of a value it holds whole; no communication";
  let description = [{
    Appends `axes` to one dimension's axis list, or to the flat axes.

    Constraints:
    - (C1) the result is equal to the operand up to sharding.
    - (C2) as all_gather, in reverse.

    Example: `%y = dist.local_slice %x over ["tp"] : T -> T`
  }];
}

def Dist_MakePartialOp : Dist_LocalOp<"make_partial"> {
  let summary = "a replicated value as a partial sum; no communication";
  let description = [{
    The first rank along `axes` keeps the value, the others hold 0, so that it may be added to partial
    sums before they are reduced.

    Constraints:
    - (C1) the result is equal to the operand up to sharding.
    - (C2) as all_gather, with `axes` added to the partial axes: none is partial before, and the kind
      is sum, or what it was.

    Example: `%y = dist.make_partial %x over ["tp"] : T -> T`
  }];
}

#endif // TITAN_DIST_OPS_TD
