//===- TitanInterfaces.td - Interfaces of operations ----------------------===//
//
// The phases query operations through these interfaces. A new operation, for example one from a
// plugin, works in all phases that use an interface which it implements. The dialect's operations
// implement the interfaces by external models in one folder per interface: Differentiation/,
// Decomposition/, ShardingRules/, Evaluation/, Cost/, Kernels/.
//
//===----------------------------------------------------------------------===//

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
    result; null means zero. `operandCotangents` has one entry per operand; null means no cotangent (an
    integer operand, or no dependence). Each cotangent has the dimensions of its operand. The dgrad and
    the wgrad of a contraction are separate operations.
  }], "::mlir::LogicalResult", "buildVjp",
    (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$cotangents,
         "::llvm::MutableArrayRef<::mlir::Value>":$operandCotangents)>];
}

def Titan_DecomposableOpInterface : Titan_OpInterface<"DecomposableOpInterface"> {
  let description = [{
    The definition of a composite by simpler operations on global tensors
    (dialects/titan/Decomposition).
  }];
  let methods = [InterfaceMethod<[{
    Builds the results at the builder's insertion point, from differentiable operations.
  }], "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>];
}

def Titan_ShardingRuleOpInterface : Titan_OpInterface<"ShardingRuleOpInterface"> {
  let description = [{
    How an operation may be sharded: factors, their kinds, and jointly linear operand sets
    (dialects/dist/Analysis/ShardingRule.h). Propagation and reshard insertion use only this rule.
  }];
  let methods = [InterfaceMethod<"The rule of this operation.", "::titan::dist::ShardingRule",
                                 "getShardingRule", (ins)>];
}

def Titan_PositionalOpInterface : Titan_OpInterface<"PositionalOpInterface"> {
  let description = [{
    An operation whose results depend on global indices along a dimension (`isPositional` of the
    factor in its sharding rule), and which can compute a chunk of that dimension given the first index
    of the chunk. The compiler does not chunk a positional dimension of operations without this
    interface.
  }];
  let methods = [InterfaceMethod<[{
    The operation already has the types of a chunk of `whole`, the dimension of the result with its
    size before the cut. Returns the result with indices that start at `start`, an i64 of rank 0 that
    is defined before the operation. `builder` inserts after the operation.
  }], "::mlir::Value", "startAt", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$start,
                                       "::titan::ir::DimAttr":$whole)>];
}

def Titan_EvaluableOpInterface : Titan_OpInterface<"EvaluableOpInterface"> {
  let description = [{
    The reference semantics on the shards of one rank, for the interpreter. Values are doubles; the
    caller rounds them to the element type after every operation.
  }];
  let methods = [InterfaceMethod<[{
    Computes the results from the operands. The caller sets the shapes of the results. `offsets` returns
    the shard offsets of this rank.
  }], "::mlir::LogicalResult", "evaluate",
    (ins "::llvm::ArrayRef<const ::titan::ir::HostTensor *>":$operands,
         "::llvm::MutableArrayRef<::titan::ir::HostTensor>":$results,
         "const ::titan::ir::ShardOffsets &":$offsets)>];
}

def Titan_ScalarOpInterface : Titan_OpInterface<"ScalarOpInterface"> {
  let description = [{
    The scalar function of an elementwise operation: its value, and its text in C++ and CUDA.
  }];
  let methods = [
    InterfaceMethod<"Computes one element of every result.", "void", "evaluateElement",
      (ins "::llvm::ArrayRef<double>":$in, "::llvm::MutableArrayRef<double>":$out)>,
    InterfaceMethod<[{
      The expression of result `index` in C++ (valid in CUDA too), for operand expressions `in` and
      scalar type `type` ("float" or "double"). Functions come from titan/runtime/kernel_math.h,
      namespace `tm`.
    }], "std::string", "getElementExpression",
      (ins "::llvm::ArrayRef<std::string>":$in, "unsigned":$index, "::llvm::StringRef":$type)>];
}

def Titan_CostOpInterface : Titan_OpInterface<"CostOpInterface"> {
  let description = [{ The exact FLOP count of one execution on one rank. }];
  let methods = [InterfaceMethod<"Floating-point operations on local shapes.", "double", "getFlops",
                                 (ins "const ::titan::dist::Degrees &":$degrees)>];
}

def Titan_ScratchOpInterface : Titan_OpInterface<"ScratchOpInterface"> {
  let description = [{
    Scratch memory of the operation's kernel. The memory phase plans it, so that a step allocates
    nothing.
  }];
  let methods = [
    InterfaceMethod<"Bytes per CPU thread.", "int64_t", "getScratchBytes",
                    (ins "const ::titan::dist::Degrees &":$degrees), "", [{ return 0; }]>,
    InterfaceMethod<"Types of scratch tensors, on CPUs and devices.",
                    "::llvm::SmallVector<::titan::ir::NamedTensorType>", "getScratchTensors",
                    (ins), "", [{ return {}; }]>];
}

#endif // TITAN_TITAN_INTERFACES_TD
