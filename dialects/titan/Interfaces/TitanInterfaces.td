// Interfaces of operations.
//
// Every phase queries operations through these interfaces. An operation that implements them works in
// all phases that use them, also if a plugin defines the operation. The dialect's own operations have external
// models, in one folder per interface: Differentiation/, Decomposition/, ShardingRules/,
// Evaluation/, Cost/, Kernels/.

#ifndef TITAN_TITAN_INTERFACES_TD
#define TITAN_TITAN_INTERFACES_TD

include "mlir/IR/OpBase.td"

class Titan_OpInterface<string name> : OpInterface<name> {
  let cppNamespace = "::titan::ir";
}

def Titan_DifferentiableOpInterface : Titan_OpInterface<"DifferentiableOpInterface"> {
  let description = [{
    Reverse-mode differentiation: the vector-Jacobian product as operations on global tensors.
  }];
  let methods = [InterfaceMethod<[{
    Builds the operands' cotangents at the builder's insertion point. `cotangents` has one entry per
    result; the entry is null if the result has no cotangent. `operandCotangents` has one entry per operand; a null entry
    means no cotangent (integers, or no dependence). Each cotangent has the operand's dimensions. The
    dgrad and the wgrad of a contraction are separate operations. Fails, with an error at the operation, if the
    operation has no gradient.
  }], "::mlir::LogicalResult", "buildVjp",
    (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$cotangents,
         "::llvm::MutableArrayRef<::mlir::Value>":$operandCotangents)>];
}

def Titan_DecomposableOpInterface : Titan_OpInterface<"DecomposableOpInterface"> {
  let description = [{
    The definition of a composite operation in simpler operations on global tensors
    (dialects/titan/Decomposition).
  }];
  let methods = [InterfaceMethod<[{
    Builds the results from differentiable operations at the builder's insertion point.
  }], "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>];
}

def Titan_ShardingRuleOpInterface : Titan_OpInterface<"ShardingRuleOpInterface"> {
  let description = [{
    The sharding rule: factors, their kinds, and jointly linear operand sets
    (dialects/dist/Analysis/ShardingRule.h). Propagation and reshard insertion know an operation only
    through its rule.
  }];
  let methods = [InterfaceMethod<"The rule of this operation.", "::titan::dist::ShardingRule",
                                 "getShardingRule", (ins)>];
}

def Titan_PositionalOpInterface : Titan_OpInterface<"PositionalOpInterface"> {
  let description = [{
    A positional operation: its results depend on global indices along a dimension (`isPositional` of
    the factor in its sharding rule). With this interface the operation can compute a chunk of that
    dimension from the chunk's first index. Without it the dimension is not sliced into chunks.
  }];
  let methods = [InterfaceMethod<[{
    Makes the operation compute the chunk whose indices start at `start`, and returns the result. The
    operation already has the types of the chunk; `whole` is the result's dimension before slicing. `start`
    is an i64 that is defined before the operation. If `start` has dimensions
    (dialects/titan/IR/Starts.h), the result has these, too. `builder` inserts after the operation.
  }], "::mlir::Value", "startAt", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$start,
                                       "::titan::ir::DimAttr":$whole)>];
}

def Titan_CausalOpInterface : Titan_OpInterface<"CausalOpInterface"> {
  let description = [{
    An operation whose result at a position depends only on operands at this position and earlier ones, such
    as causal attention. The operation can compute a chunk of the positions, if some operands also contain
    all earlier positions. Generation keeps these operands in caches (docs/rationale/generation.md).
  }];
  let methods = [
    InterfaceMethod<[{
      The operands that the operation reads at all positions of `dim` up to the position of the result.
      Empty if the operation also reads later positions.
    }], "::llvm::SmallVector<unsigned>", "getCausalOperands", (ins "::mlir::StringAttr":$dim)>,
    InterfaceMethod<[{
      Makes the operation compute the chunk that begins at position `start`: an i64 of rank 0 or with
      dimensions of the result (dialects/titan/IR/Starts.h). The operation already has the types of the
      chunk, except that the operands of `getCausalOperands` have all positions.
    }], "void", "setStart", (ins "::mlir::Value":$start)>];
}

def Titan_EvaluableOpInterface : Titan_OpInterface<"EvaluableOpInterface"> {
  let description = [{
    The reference semantics on the shards of one rank, for the interpreter. Values are doubles. The
    caller rounds them to the element type after every operation.
  }];
  let methods = [InterfaceMethod<[{
    Computes the results from the operands. The caller sets the result shapes. `shards` maps local
    indices of the rank to global ones.
  }], "::mlir::LogicalResult", "evaluate",
    (ins "::llvm::ArrayRef<const ::titan::ir::HostTensor *>":$operands,
         "::llvm::MutableArrayRef<::titan::ir::HostTensor>":$results,
         "const ::titan::ir::RankShards &":$shards)>];
}

def Titan_ScalarOpInterface : Titan_OpInterface<"ScalarOpInterface"> {
  let description = [{
    The scalar function of an elementwise operation: its value, and its C++ and CUDA source.
  }];
  let methods = [
    InterfaceMethod<"Computes one element of every result.", "void", "evaluateElement",
      (ins "::llvm::ArrayRef<double>":$in, "::llvm::MutableArrayRef<double>":$out)>,
    InterfaceMethod<[{
      The expression of result `index` in C++ and CUDA, for operand expressions `in` and scalar type
      `type` ("float" or "double"). Functions come from titan/runtime/kernel_math.h, namespace `tm`.
    }], "std::string", "getElementExpression",
      (ins "::llvm::ArrayRef<std::string>":$in, "unsigned":$index, "::llvm::StringRef":$type)>];
}

def Titan_CostOpInterface : Titan_OpInterface<"CostOpInterface"> {
  let description = [{ The exact number of floating-point operations. }];
  let methods = [InterfaceMethod<"FLOPs of one execution on one rank.", "double", "getFlops",
                                 (ins "const ::titan::dist::Degrees &":$degrees)>,
                 InterfaceMethod<"Those that take many instructions: exp, log, tanh, sigmoid, erf, sin, cos, pow.",
                                 "double", "getSpecialFlops",
                                 (ins "const ::titan::dist::Degrees &":$degrees), "", [{ return 0; }]>];
}

def Titan_ScratchOpInterface : Titan_OpInterface<"ScratchOpInterface"> {
  let description = [{
    Scratch of an operation's kernel. The memory phase plans it, so that a step allocates nothing.
  }];
  let methods = [
    InterfaceMethod<"Bytes per CPU thread.", "int64_t", "getScratchBytes",
                    (ins "const ::titan::dist::Degrees &":$degrees), "", [{ return 0; }]>,
    InterfaceMethod<"Types of the kernel's temporary tensors, on any device.",
                    "::llvm::SmallVector<::titan::ir::NamedTensorType>", "getScratchTensors",
                    (ins), "", [{ return {}; }]>];
}

#endif // TITAN_TITAN_INTERFACES_TD
