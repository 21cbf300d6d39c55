//===- TitanOpBase.td - Base class of the dialect's operations ------------===//

#ifndef TITAN_TITAN_OP_BASE_TD
#define TITAN_TITAN_OP_BASE_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "dialects/titan/IR/TitanAttrs.td"
include "dialects/titan/IR/TitanTypes.td"

def Titan_Tensor : Type<CPred<"::llvm::isa<::titan::ir::NamedTensorType>($_self)">, "titan tensor",
                        "::titan::ir::NamedTensorType">;

/// Names in printed IR come from the source (NameLoc): `let q = x @ wq` is `%q = titan.contract ...`.
class Titan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Titan_Dialect, mnemonic,
         !listconcat(traits, [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>])> {
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      ::titan::ir::setResultNamesFromLocation(getOperation(), setName);
    }
  }];
}

#endif // TITAN_TITAN_OP_BASE_TD
