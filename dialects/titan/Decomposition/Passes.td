// The pass that decomposes composite operations.

#ifndef TITAN_DECOMPOSITION_PASSES_TD
#define TITAN_DECOMPOSITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanDecompose : Pass<"titan-decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composites by the simpler operations that define them";
  let description = [{
    Replaces every operation with DecomposableOpInterface by its definition. For programs of the model
    phase: gradients of composites are not decomposed, but the gradient of the definition is equal. Fails
    if an operation has a sharding already.

    Input:
    ```mlir
    %r = titan.rotary %x along "seq" dim "head" {theta = 1.0e+04} : T -> T
    ```

    Output: angles from `titan.iota`, their cosines and sines, and two halves of `%x`:
    ```mlir
    %c = titan.cos %angles : ...
    %s = titan.sin %angles : ...
    %h = titan.split %x dim "head" : ...
    ...
    %r = titan.merge %halves dim "head" : ... -> T
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

#endif // TITAN_DECOMPOSITION_PASSES_TD
