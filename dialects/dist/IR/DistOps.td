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

def Dist_MapOp : Dist_Op<"map"> {
  let summary = "the user's mapping of dimensions to one mesh axis";
  let description = [{
    What a line of a `parallel` declaration says: the axis splits the first dimension of `splits` that
    a tensor has, else the first of `otherwise`; and it stores the listed kinds of state in shards.

    Constraints:
    - (C1) `axis` is an axis of the mesh.
    - (C2) `stores` holds only "params", "grads", "optimizer".

    Example: `dist.map "tp" splits ["heads", "ffn"] otherwise ["seq"] stores []`
  }];
  let arguments = (ins StrAttr:$axis, StrArrayAttr:$splits, StrArrayAttr:$otherwise, StrArrayAttr:$stores);
  let assemblyFormat = "$axis `splits` $splits `otherwise` $otherwise `stores` $stores attr-dict";
  let hasVerifier = 1;
}

class Dist_ConversionOp<string mnemonic> : Dist_Op<mnemonic, [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let results = (outs Titan_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      ::titan::ir::setResultNamesFromLocation(getOperation(), setName);
    }
  }];
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

class Dist_CollectiveOp<string mnemonic> : Dist_ConversionOp<mnemonic> {
  let assemblyFormat = "$input `over` $axes attr-dict `:` type($input) `->` type($result)";
}

def Dist_AllGatherOp : Dist_CollectiveOp<"all_gather"> {
  let summary = "every rank of the group gets all parts";
  let description = [{
    Removes `axes` from the end of one dimension's axis list, or from the flat axes.

    Constraints:
    - (C1) operand and result are equal up to sharding.
    - (C2) the shardings differ exactly by `axes` at the end of one list.

    Example: `%y = dist.all_gather %x over ["tp"] : T -> T`
  }];
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes);
}

def Dist_ReduceScatterOp : Dist_CollectiveOp<"reduce_scatter"> {
  let summary = "partial values combined, every rank keeping its part";
  let description = [{
    Moves `axes` from the partial axes to the end of one dimension's axis list, or to the flat axes.

    Constraints: as all_gather, with the partial axes as source.

    Example: `%y = dist.reduce_scatter %x over ["shard"] : T -> T`
  }];
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes);
}

def Dist_AllReduceOp : Dist_CollectiveOp<"all_reduce"> {
  let summary = "partial values combined on every rank";
  let description = [{
    Removes `axes` from the partial axes.

    Constraints: as all_gather, with the partial axes as source.

    Example: `%y = dist.all_reduce %x over ["tp"] : T -> T`
  }];
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes);
}

def Dist_AllToAllOp : Dist_CollectiveOp<"all_to_all"> {
  let summary = "axes move from one dimension to another";
  let description = [{
    Removes `axes` from the end of one dimension's list and appends them to another's.

    Constraints: as all_gather, with exactly two lists changed.

    Example: `%y = dist.all_to_all %x over ["tp"] : T -> T`
  }];
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes);
}

def Dist_LocalSliceOp : Dist_CollectiveOp<"local_slice"> {
  let summary = "every rank keeps its part of a value it holds whole; no communication";
  let description = [{
    Appends `axes` to one dimension's axis list, or to the flat axes.

    Constraints: as all_gather, in reverse.

    Example: `%y = dist.local_slice %x over ["tp"] : T -> T`
  }];
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes);
}

def Dist_MakePartialOp : Dist_CollectiveOp<"make_partial"> {
  let summary = "a replicated value as a partial sum; no communication";
  let description = [{
    The first rank along `axes` keeps the value, the others hold 0, so that it may be added to partial
    sums before they are reduced.

    Constraints: adds `axes` to the partial axes, whose kind is sum.

    Example: `%y = dist.make_partial %x over ["tp"] : T -> T`
  }];
  let arguments = (ins Titan_Tensor:$input, StrArrayAttr:$axes);
}

#endif // TITAN_DIST_OPS_TD
