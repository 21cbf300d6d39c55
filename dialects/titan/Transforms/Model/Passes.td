//===- Passes.td - The model phase ----------------------------------------===//

#ifndef TITAN_TRANSFORMS_MODEL_PASSES_TD
#define TITAN_TRANSFORMS_MODEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanVerifyModelPhase : Pass<"titan-verify-model-phase", "::mlir::ModuleOp"> {
  let summary = "Checks what holds after the model phase; changes nothing";
  let description = [{
    A program is a function with `titan.program`. In every program:
    - (M1) an argument has exactly one role: `titan.input`, `titan.param`, or `titan.scalar` if the
      program draws random numbers. The optimizer adds states later;
    - (M2) a parameter has an initialiser (`titan.init`) and a unique name;
    - (M3) a parameter has the same type, initialiser and trainability in every program, since all
      programs share its memory.
    In a program `"train"`:
    - (M4) one result is the loss: `titan.output = "loss"`, floating-point, without dimensions. The
      other results are named losses, `"loss.NAME"`, and exactly one next value (`titan.updates`) of
      each buffer (`titan.buffer`);
    - (M5) `titan.updated_by` of each trained parameter names the function that updates it.
    In the module:
    - (M6) no type has a sharding.

    The pass works on the module, because (M3) compares programs.
  }];
}

def TitanCheckIndices : Pass<"titan-check-indices", "::mlir::func::FuncOp"> {
  let summary = "Inserts bounds checks of computed indices";
  let description = [{
    Inserts a `titan.check_index` before every `gather` and `scatter` whose indices may exceed the
    dimension. The bounds of indices follow from dimension sizes, iteration counts, and the token bound
    that the runtime enforces (`titan.sizes`).

    Input, with `titan.sizes = {vocab = 256 : i64}`:
    ```mlir
    %x = titan.gather %table along "vocab" at %tokens : ...   // a table of 100 rows
    ```

    Output:
    ```mlir
    %i = titan.check_index %tokens in "vocab" below 100 : ...
    %x = titan.gather %table along "vocab" at %i : ...
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

#endif // TITAN_TRANSFORMS_MODEL_PASSES_TD
