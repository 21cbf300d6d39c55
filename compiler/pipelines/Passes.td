// The pass that runs a phase of the compiler.

#ifndef TITAN_PIPELINES_PASSES_TD
#define TITAN_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def TitanRunPhase : Pass<"titan-run-phase", "::mlir::ModuleOp"> {
  let summary = "Runs a phase of the compiler with the settings of the module's run";
  let description = [{
    Builds the pipeline of the phase with the options that `titan.run` sets, as titanc does, and runs the
    pipeline. titan-opt builds its own pipeline before it reads the module and its `titan.run`. Therefore
    `--titan-phase-NAME` consists of this pass, which builds the phase later. The pass runs on the module,
    because some passes of phases run on the module.

    Input, with `phase=overlap`:
    ```mlir
    module attributes {titan.run = {sharding.overlap = #titan.setting<"never">}} { ... }
    ```

    Runs `func.func(dist-prefetch-gathers{overlap=never},dist-split-collectives{overlap=never},...)`.
  }];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::titan::ir::TitanDialect", "::titan::dist::DistDialect"
  ];
  let options = [Option<"phase", "phase", "std::string", "", "Name of the phase">];
}

#endif // TITAN_PIPELINES_PASSES_TD
