// Emits functions that the host evaluates.
//
// The host evaluates the schedules of the learning rate in every step. At the end of an evaluation,
// it evaluates the outputs that are not means over batches.
#pragma once

#include "compiler/emission/Names.h"
#include "compiler/emission/Writer.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::emission {

class HostFunctions {
public:
  /// Emits the functions of the module, with names from `scope`.
  HostFunctions(mlir::ModuleOp module, NameScope &scope, Writer &out);
  /// Their rows in the table of the program: the sources of the arguments, and the function.
  void emitRows(Writer &out) const;

private:
  struct Function {
    ir::ScalarFunctionOp function;
    std::string name; ///< in the emitted source
  };
  void emitSchedules(Writer &out) const;
  void emitEvaluated(Writer &out) const;

  std::vector<Function> schedules; ///< the first is that of the run
  std::vector<Function> evaluated; ///< outputs of evaluations
};

} // namespace titan::emission
