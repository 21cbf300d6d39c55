//===- Passes.td - The model phase ----------------------------------------===//

#ifndef TITAN_TRANSFORMS_MODEL_PASSES_TD
#define TITAN_TRANSFORMS_MODEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanVerifyModelPhase : Pass<"titan-verify-model-phase", "::mlir::ModuleOp"> {
  let summary = "Checks what holds after the model phase; changes nothing";
  let description = [{
    A program is a function with `titan.program`. In every program:
    - (M1) an argument has exactly one role, `titan.input`, `titan.param` or, where something is
      drawn, `titan.scalar`: states come with the optimizer, later;
    - (M2) a parameter says how it starts (`titan.init`), and no other has its name;
    - (M3) a parameter has the same type, initialiser and trainedness in every program, since one
      buffer serves them all.
    In a program `"train"`:
    - (M4) one result is the loss: `titan.output = "loss"`, floating-point, without dimensions; others
      are losses with names, `"loss.NAME"`, or the next value of a buffer (`titan.buffer`), of which
      each has one (`titan.updates`);
    - (M5) `titan.updated_by` of each trained parameter names the function that updates it.
    In the module:
    - (M6) no tensor is mapped to the machine yet: no type has a sharding.
  }];
}

def TitanCheckIndices : Pass<"titan-check-indices", "::mlir::ModuleOp"> {
  let summary = "Checks indices that are computed against the dimensions that they index";
  let description = [{
    Puts a `titan.check_index` in front of every `gather` and `scatter` unless the indices are known to
    fit: from the sizes of dimensions and the iterations that they count, and from what the runtime
    checks of tokens when it reads them (`titan.sizes`).
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

#endif // TITAN_TRANSFORMS_MODEL_PASSES_TD
