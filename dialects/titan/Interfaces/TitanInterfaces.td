//===- TitanInterfaces.td - What the compiler asks of an operation --------===//
//
// Every phase that walks programs asks operations through one of these interfaces, so a new
// operation (also one from a plugin) works everywhere by implementing them. The dialect's own
// operations implement them by external models, one folder a concern: Differentiation/,
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
    Reverse-mode differentiation: the vector-Jacobian product as operations of the same global view.
  }];
  let methods = [InterfaceMethod<[{
    Builds the operands' cotangents at the builder's insertion point. `cotangents` has one entry per
    result, null where nothing flows. `operandCotangents` has one entry per operand; entries left
    null get no cotangent (integers, or no dependence). Each built cotangent has the operand's
    dimensions. Matrix gradients of parameters and of activations are separate operations.
  }], "::mlir::LogicalResult", "buildVjp",
    (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$cotangents,
         "::llvm::MutableArrayRef<::mlir::Value>":$operandCotangents)>];
}

def Titan_DecomposableOpInterface : Titan_OpInterface<"DecomposableOpInterface"> {
  let description = [{
    The definition of a composite by simpler operations of the same global view
    (dialects/titan/Decomposition).
  }];
  let methods = [InterfaceMethod<[{
    Builds what each result is at the builder's insertion point, on whole tensors, differentiable.
  }], "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>];
}

def Titan_ShardingRuleOpInterface : Titan_OpInterface<"ShardingRuleOpInterface"> {
  let description = [{
    How an operation may be split: factors, their kinds, and jointly linear operand sets
    (dialects/dist/Analysis/ShardingRule.h). Propagation and reshard insertion use nothing else.
  }];
  let methods = [InterfaceMethod<"The rule of this operation.", "::titan::dist::ShardingRule",
                                 "getShardingRule", (ins)>];
}

def Titan_PositionalOpInterface : Titan_OpInterface<"PositionalOpInterface"> {
  let description = [{
    An operation whose results depend on global indices along a dimension (`isPositional` of the
    factor in its sharding rule), and which can compute a chunk of that dimension when it knows the
    chunk's first index. A positional operation without this interface is not computed in chunks of
    that dimension.
  }];
  let methods = [InterfaceMethod<[{
    The operation has the types of a chunk already. Returns what its result becomes where indices
    count from `start`, an i64 of rank 0 that is defined before the operation; `builder` inserts
    behind the operation.
  }], "::mlir::Value", "startAt", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$start)>];
}

def Titan_EvaluableOpInterface : Titan_OpInterface<"EvaluableOpInterface"> {
  let description = [{
    The reference meaning on one rank's local parts, used by the interpreter. Values are held as
    doubles and rounded to the element type by the caller after every operation.
  }];
  let methods = [InterfaceMethod<[{
    Computes the results from the operands. Result shapes are set by the caller.
    `offsets` answers where this rank's part of a dimension starts.
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
  let description = [{ Exact arithmetic of one execution on one rank. }];
  let methods = [InterfaceMethod<"Floating-point operations on local shapes.", "double", "getFlops",
                                 (ins "const ::titan::dist::Degrees &":$degrees)>];
}

def Titan_ScratchOpInterface : Titan_OpInterface<"ScratchOpInterface"> {
  let description = [{
    Working memory of an operation's kernel. The memory phase plans it, so that a step allocates
    nothing.
  }];
  let methods = [
    InterfaceMethod<"Bytes that each of a processor's threads needs.", "int64_t", "getScratchBytes",
                    (ins "const ::titan::dist::Degrees &":$degrees), "", [{ return 0; }]>,
    InterfaceMethod<"Types of tensors that the kernel needs, on any device.",
                    "::llvm::SmallVector<::titan::ir::NamedTensorType>", "getScratchTensors",
                    (ins), "", [{ return {}; }]>];
}

#endif // TITAN_TITAN_INTERFACES_TD
