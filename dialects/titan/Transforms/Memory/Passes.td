// Passes of the memory phase.

#ifndef TITAN_TRANSFORMS_MEMORY_PASSES_TD
#define TITAN_TRANSFORMS_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanSequentializeCopies : Pass<"titan-sequentialize-copies", "::mlir::func::FuncOp"> {
  let summary = "Copies returned and yielded values that an earlier copy would overwrite";
  let description = [{
    A return copies its results one after the other; so does a yield with its iteration arguments. The pass
    copies each value that an earlier copy of the same terminator would overwrite.

    Input:
    ```mlir
    func.func @train(%p: T, %q: T) -> (T {titan.updates = 0}, T {titan.updates = 1}) {
      return %q, %p
    ```

    Output:
    ```mlir
      %0 = titan.copy %q : T
      %1 = titan.copy %p : T
      return %0, %1
    ```
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
}

def TitanPlanMemory : Pass<"titan-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Assigns an allocation with a live range to every value";
  let description = [{
    Assigns an allocation to every value and a live range to every allocation. The pass works on the module,
    because all programs share the persistent allocations.

    Input:
    ```mlir
    %a = titan.exp %x : ...
    %b = titan.neg %a : ...
    ```

    Output: `%a` and `%b` share an allocation, because `%b` is the last use of `%a`:
    ```mlir
    %a = titan.exp %x {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : ...
    %b = titan.neg %a {titan.result_allocs = [#titan.alloc_ref<transient 0>]} : ...
    ```

    The pass chooses no offsets: with `auto` degrees, sizes are known only at launch.

    With `offload=optimizer`, the state of the optimizer is in memory of the host, with `offload=params` the
    parameters:
    ```mlir
    #titan.allocation<"m.w", !titan.tensor<f32[x = 8]>, 0 to 0 on "host">
    ```
    The phase pipeline sets the option from the setting `offload` of the run.
  }];
  let dependentDialects = ["::titan::ir::TitanDialect"];
  let options = [
    ListOption<"offload", "offload", "std::string", "Tensors in memory of the host: params, optimizer">
  ];
  let statistics = [
    Statistic<"allocations", "transient allocations", "Transient allocations of all programs">,
    Statistic<"sharedAllocations", "shared allocations", "Results that reuse the allocation of an operand">
  ];
}

def TitanVerifyMemory : Pass<"titan-verify-memory", "::mlir::ModuleOp"> {
  let summary = "Rejects plans that overwrite a value too early; changes nothing";
  let description = [{
    Read-only; closes the memory phase. Rejects plans in which a value has no allocation, is overwritten
    before its last use, or is read outside the live range of its allocation. The pass works on the module,
    because the persistent allocations of all programs must agree.
  }];
}

#endif // TITAN_TRANSFORMS_MEMORY_PASSES_TD
