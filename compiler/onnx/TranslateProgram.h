// A program of the model phase as an ONNX graph (docs/rationale/onnx.md).
#pragma once

#include "compiler/onnx/Lengths.h"
#include "dialects/titan/Onnx/Translation.h"

#include "mlir/IR/BuiltinOps.h"

namespace titan::onnx {

/// A parameter, or the slot of a stacked one.
struct ParameterSlot {
  llvm::StringRef parameter;             ///< layers.wq
  std::string name;                      ///< layers.3.wq
  llvm::SmallVector<int64_t> iterations; ///< of its repeats
  llvm::SmallVector<Axis> axes;
  ElementType type;
};

/// Adds the tensor of a parameter to the graph. Fails after a report.
using ReadParameter =
    std::function<mlir::FailureOr<Tensor>(Translation &translation, const ParameterSlot &slot)>;

/// Parameters become inputs of the graph, with their names.
mlir::FailureOr<Tensor> readAsInput(Translation &translation, const ParameterSlot &slot);

/// The graph of `program`. Inputs and outputs have the names of transformers: `input_ids` for
/// tokens; caches are `past.NAME` and `present.NAME`. Samples have any number, if they do not
/// depend on one another. Errors are reported at the operation that has no translation.
mlir::FailureOr<Graph> translateProgram(mlir::func::FuncOp program, const Lengths &lengths,
                                        const ReadParameter &readParameter);

/// Registers `--titan-to-onnx` and `--titan-to-onnx-text` with titan-translate: @logits of the
/// model phase, with its sizes and with parameters as inputs.
/// `extend` adds dialects of plugins.
void registerToOnnx(const std::function<void(mlir::DialectRegistry &registry)> &extend);

} // namespace titan::onnx
