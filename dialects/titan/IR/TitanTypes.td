// The tensor type.

#ifndef TITAN_TITAN_TYPES_TD
#define TITAN_TITAN_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypes.td"
include "dialects/titan/IR/TitanDialect.td"

def Titan_TensorType : TypeDef<Titan_Dialect, "NamedTensor"> {
  let mnemonic = "tensor";
  let summary = "a tensor with named dimensions and a sharding";
  let description = [{
    `!titan.tensor<f32[batch = 8, seq = 256, embed = 64]>` is a global tensor; the order of the
    dimensions is their order in memory. After the shard phase the type includes the sharding:
    `!titan.tensor<f32[batch = 8, seq = 256], <[{shard}, {tp} ]>>`. Sizes are global at every phase;
    type and mesh determine the local shape (`dist::getLocalShape`).

    Element types: f64, f32, bf16, i64 (integers), i1 (booleans).

    Constraints:
    - (C1) dimension names are distinct.
    - (C2) sizes are positive.
    - (C3) a sharding has one axis list per dimension.
  }];
  let parameters = (ins "::mlir::Type":$elementType, ArrayRefParameter<"::titan::ir::DimAttr">:$dims,
                        "::titan::dist::ShardingAttr":$sharding);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType,
                                        "::llvm::ArrayRef<::titan::ir::DimAttr>":$dims), [{
      return $_get(elementType.getContext(), elementType, dims, ::titan::dist::ShardingAttr());
    }]>,
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType,
                                        "::llvm::ArrayRef<::titan::ir::DimAttr>":$dims,
                                        "::titan::dist::ShardingAttr":$sharding), [{
      return $_get(elementType.getContext(), elementType, dims, sharding);
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDims().size(); }
    /// The index of the dimension `name`, or -1.
    int64_t findDimIndex(::mlir::StringAttr name) const;
    bool hasDim(::mlir::StringAttr name) const { return findDimIndex(name) >= 0; }
    /// Product of the global sizes.
    int64_t getNumElements() const;
    ::llvm::SmallVector<int64_t> getShape() const;
    NamedTensorType withSharding(::titan::dist::ShardingAttr sharding) const;
    NamedTensorType withElementType(::mlir::Type type) const;
    /// Same dimensions and element type; shardings may differ.
    bool equalsUpToSharding(NamedTensorType other) const;
    /// The sharding, or the replicated one if there is none.
    ::titan::dist::ShardingAttr getShardingOrReplicated() const;
  }];
}

#endif // TITAN_TITAN_TYPES_TD
