// Shardings and mesh axes.

#ifndef TITAN_DIST_ATTRS_TD
#define TITAN_DIST_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialects/dist/IR/DistDialect.td"

def Dist_ReductionKind : I32EnumAttr<"ReductionKind", "how partial values combine", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::titan::dist";
}

def Dist_AttentionMethod : I32EnumAttr<"AttentionMethod", "how an axis that shards positions computes attention", [
    I32EnumAttrCase<"Gather", 0, "gather">, I32EnumAttrCase<"Ring", 1, "ring">,
    I32EnumAttrCase<"AllToAll", 2, "all_to_all">, I32EnumAttrCase<"Auto", 3, "auto">]> {
  let cppNamespace = "::titan::dist";
}

def Dist_MeshAxisAttr : AttrDef<Dist_Dialect, "MeshAxis"> {
  let mnemonic = "axis";
  let summary = "a named mesh axis and its degree";
  let description = [{
    `#dist.axis<tp = 2>`. The degree `auto` (stored as 0) is fixed at launch. At most one axis of a mesh
    has it.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$degree);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool isAuto() const { return getDegree() == 0; }
  }];
}

def Dist_ShardingAttr : AttrDef<Dist_Dialect, "Sharding"> {
  let mnemonic = "sharding";
  let summary = "the axes that shard each dimension of a tensor, and its unreduced axes";
  let description = [{
    `#dist.sharding<[{shard}, {tp}, {} ]>` shards dimension 0 over `shard` and dimension 1 over `tp`.
    Several axes of one dimension are listed from outer to inner. Axes that are not listed replicate.

    `partial sum {tp}`: the value is the sum over `tp` of the ranks' values.

    `flat 1 {shard}`: flat storage. After the per-dimension axes, dimensions 1 and higher are flattened in
    row-major order and padded to a multiple of the degree. The axes shard them into equal contiguous
    chunks. Dimension 0 is the stacked one. Flat storage needs no divisible dimensions, and
    one all-gather without a permutation gathers it. Only elementwise operations and collectives accept it.

    `{cp headtail}`: the axis `cp` of degree n shards the dimension in head-tail order. Of 2n equal blocks,
    shard r has blocks r and 2n - 1 - r; local indices keep the order of global ones. Other axes shard in
    block order: shard r has the r-th of n equal blocks (`base/layout/DimShard.h`).

    Constraints:
    - (C1) one axis list per dimension of the tensor.
    - (C2) an axis occurs at most once in the sharding.
    - (C3) `flat` starts at or before the rank of the tensor.
    - (C4) at most one axis of a dimension has head-tail order.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::ArrayAttr">:$dimAxes,
    "::mlir::ArrayAttr":$flatAxes, "int64_t":$flatFrom,
    "::mlir::ArrayAttr":$partialAxes, "::titan::dist::ReductionKind":$partialKind,
    "::mlir::ArrayAttr":$headTailAxes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The sharding that replicates a tensor of `rank` dimensions.
    static ShardingAttr getReplicated(::mlir::MLIRContext *context, int64_t rank);
    bool isPartial() const { return !getPartialAxes().empty(); }
    bool isFlat() const { return !getFlatAxes().empty(); }
    /// True when no axis shards a dimension and none is partial.
    bool isReplicated() const;
    /// True when `axis` occurs anywhere in the sharding.
    bool usesAxis(::mlir::StringAttr axis) const;
    /// The order in which `axis` shards its dimension.
    ShardOrder getOrder(::mlir::Attribute axis) const;
    /// The axis of dimension `dim` in head-tail order; null if there is none.
    ::mlir::StringAttr getHeadTailAxis(int64_t dim) const;
    /// True when every axis that shards a dimension here and in `other` has the same order.
    bool hasSameOrders(ShardingAttr other) const;
    /// This sharding with the axes `dimAxes` and with flat storage from dimension `flatFrom` on. Axes keep
    /// their orders.
    ShardingAttr withDims(::llvm::ArrayRef<::mlir::ArrayAttr> dimAxes, int64_t flatFrom) const;
    ShardingAttr withPartial(::mlir::ArrayAttr axes, ReductionKind kind) const;
    ShardingAttr withFlat(::mlir::ArrayAttr axes, int64_t from) const;
    ShardingAttr withoutPartial() const;
    ShardingAttr withoutFlat() const;
  }];
}

def Dist_FragmentKind : I32EnumAttr<"FragmentKind", "the work of a fragment", [
    I32EnumAttrCase<"Begin", 0, "begin">, I32EnumAttrCase<"Forward", 1, "forward">,
    I32EnumAttrCase<"Backward", 2, "backward">, I32EnumAttrCase<"Wgrad", 3, "wgrad">,
    I32EnumAttrCase<"Update", 4, "update">, I32EnumAttrCase<"Evaluate", 5, "evaluate">]> {
  let cppNamespace = "::titan::dist";
  let genSpecializedAttr = 0;
}

def Dist_FragmentAttr : AttrDef<Dist_Dialect, "Fragment"> {
  let mnemonic = "fragment";
  let summary = "the stage and the kind of work of a fragment of a program";
  let description = [{
    `#dist.fragment<kind = forward, stage = 2>`. `begin` runs once per step before the microbatches.
    `forward` and `backward` run once per microbatch. So does `wgrad`, which exists if `backward` does not
    compute the weight gradients of the stage. `update` runs once per step after the microbatches. Programs
    without microbatches consist of `begin` and `evaluate`. `level` orders the `update` or `evaluate` fragments:
    those of level 1 read values that level 0 of other stages computed.
  }];
  let parameters = (ins EnumParameter<Dist_FragmentKind>:$kind, "int64_t":$stage,
                        DefaultValuedParameter<"int64_t", "0">:$level);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // TITAN_DIST_ATTRS_TD
