// Passes that count floating-point operations.

#ifndef TITAN_COST_PASSES_TD
#define TITAN_COST_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanCountFlops : Pass<"titan-count-flops", "::mlir::ModuleOp"> {
  let summary = "Sets the FLOPs per token of the training step on the module";
  let description = [{
    Sets `titan.flops_per_token` (f64) on the module: the operations of one step of the program "train",
    divided by the tokens of `titan.sizes`. The pass works on the module, which has both attributes.

    Input:
    ```mlir
    module attributes {titan.sizes = {samples = 4 : i64, positions = 8 : i64, vocab = 256 : i64}} {
      func.func @train ...
    ```

    Output:
    ```mlir
    module attributes {titan.flops_per_token = 1.6384e+04 : f64, titan.sizes = {...}} {
      func.func @train ...
    ```
  }];
}

def TitanCountModelFlops : Pass<"titan-count-model-flops", "::mlir::ModuleOp"> {
  let summary = "Sets the model FLOPs per token on the module";
  let description = [{
    Sets `titan.model_flops_per_token` (f64) on a module of the model phase (`Cost.h` has the convention).
    The pass works on the module, which has the attribute and the sizes.

    Input:
    ```mlir
    module attributes {titan.sizes = {samples = 4 : i64, positions = 8 : i64, vocab = 256 : i64}} {
      func.func @train ...
    ```

    Output:
    ```mlir
    module attributes {titan.model_flops_per_token = 1.2e+04 : f64, titan.sizes = {...}} {
      func.func @train ...
    ```
  }];
}

#endif // TITAN_COST_PASSES_TD
