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

def TitanFoldSelects : Pass<"titan-fold-selects", "::mlir::func::FuncOp"> {
  let summary = "Removes selects whose conditions the ranges of indices decide";
  let description = [{
    Replaces a `titan.select` by one of its operands if its condition compares integers whose ranges
    decide the comparison, such as `labels < 0` for labels that are tokens. So losses that leave out
    negative labels cost nothing where no label is negative. The ranges are those of
    `--titan-check-indices`, which sees the simpler indices.

    Input, with `titan.sizes = {vocab = 256 : i64}`:
    ```mlir
    %ignored = titan.compare lt %labels, %zero : ...
    %index = titan.select %ignored, %zero, %labels : ...
    ```

    Output: `%labels` instead of `%index`.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
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

def TitanGroupContractions : Pass<"titan-group-contractions", "::mlir::func::FuncOp"> {
  let summary = "Contracts with gathered matrices without gathering them";
  let description = [{
    Replaces a contraction with gathered elements of a table by `titan.grouped_contract`, if each element
    is a matrix: experts of a mixture, selected per token. The gathered tensor would repeat a matrix for
    each row. A result without some dimension of the indices becomes a sum over that dimension.

    Input:
    ```mlir
    %e = titan.gather %w along "experts" at %chosen : ...      // [seq, slot, embed, ffn]
    %y = titan.contract %x, %e : ...                           // [seq, slot, ffn]
    ```

    Output:
    ```mlir
    %y = titan.grouped_contract %x, %w along "experts" at %chosen : ...
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
  let statistics = [
    Statistic<"groupedContractions", "grouped contractions", "Contractions that became grouped">
  ];
}

#endif // TITAN_TRANSFORMS_MODEL_PASSES_TD
