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

def TitanOrderDimensions : Pass<"titan-order-dimensions", "::mlir::ModuleOp"> {
  let summary = "Decides by bytes which dimension of a value an axis shards";
  let description = [{
    If an axis lists several dimensions that meet in an operation, such as `batch` and `ffn`, it shards the first one. The
    pass compiles copies of the module through the gradient and the shard phase, one for each order of these
    dimensions, and keeps the order with which a rank sends least in a step of the train programs. Equal orders
    keep that of the map. Up to four such dimensions are tried in all orders; of more, each is tried first.
    Axes are decided from outer to inner, and again if a later axis changed. Axes with degree `auto` do not change. `dist.order` has the reason, for
    reports.

    ```mlir
    dist.axis_rules "x" shards ["ffn", "batch"] fallback [] stores []
    // becomes
    dist.axis_rules "x" shards ["batch", "ffn"] fallback [] stores []
        {dist.order = "batch, ffn: a rank sends 56.2 GB a step; with ffn, batch 1219.3 GB"}
    ```

    The pass works on the module: it changes axis rules.
  }];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::titan::ir::TitanDialect", "::titan::dist::DistDialect"
  ];
  let statistics = [
    Statistic<"orderedAxes", "ordered axes", "Axes whose list of dimensions changed">
  ];
}

#endif // TITAN_PIPELINES_PASSES_TD
