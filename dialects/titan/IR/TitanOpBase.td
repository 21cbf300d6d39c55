// Base class of the dialect's operations.

#ifndef TITAN_TITAN_OP_BASE_TD
#define TITAN_TITAN_OP_BASE_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "dialects/titan/IR/OpTraits.td"
include "dialects/titan/IR/TitanAttrs.td"
include "dialects/titan/IR/TitanTypes.td"

def Titan_Tensor : Type<CPred<"::llvm::isa<::titan::ir::NamedTensorType>($_self)">, "titan tensor",
                        "::titan::ir::NamedTensorType">;

/// Names in printed IR come from the source (NameLoc): `let q = x @ wq` is `%q = titan.contract ...`.
class Titan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Titan_Dialect, mnemonic,
         !listconcat(traits, [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>])> {
  /// Definitions of member functions, for classes of operations.
  code definitions = "";
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      ::titan::ir::setResultNamesFromLocation(getOperation(), setName);
    }
  }] # definitions;
}

/// The result type follows from the operands; builders compute it.
defvar Titan_InferType = DeclareOpInterfaceMethods<InferTypeOpInterface>;

/// Declarations for Titan_InferType: the operation's own verifier checks the result, which may have
/// another sharding or another order of dimensions.
defvar Titan_InferTypeDeclarations = [{
  static bool isCompatibleReturnTypes(::mlir::TypeRange, ::mlir::TypeRange) { return true; }
}];

/// Definitions for Titan_InferType: `type` is an expression over `operands`.
class Titan_InferTypeAs<string type> {
  code definitions = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location>, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      inferred.push_back(}] # type # [{);
      return ::mlir::success();
    }
  }];
}

#endif // TITAN_TITAN_OP_BASE_TD
