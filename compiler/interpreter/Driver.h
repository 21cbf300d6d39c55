// The driver of titan-interpret.
//
// Loads one or two modules and runs, prints, compares or checks them. Separate from the tool's
// main, so that unit tests and other tools can call it.
#pragma once

#include "compiler/interpreter/Arguments.h"

#include <optional>

namespace titan::interpreter {

struct DriverOptions {
  std::string file, program; ///< the module, and names for Session::create()
  std::string compare;       ///< another module to compare with; empty: none
  std::string inputs, dump;  ///< safetensors files; empty: none
  Settings settings;
  int64_t autoDegree = 1, steps = 1;
  int64_t ranks = 0; ///< the required number of ranks of a sharded program; 0: any
  double tolerance = 1e-12;
  bool float64 = false; ///< compute in double precision (Widen.h)
  bool gather = false;  ///< print the elements of global results, too
  bool local = false;   ///< print the shards of all ranks, too
  bool checkGradients = false, checkDecode = false;
  bool learningRates = false; ///< print those of the run and execute nothing
};

/// Executes the options. Results go to `stream`, errors to stderr.
mlir::LogicalResult drive(mlir::MLIRContext &context, DriverOptions options,
                          llvm::raw_ostream &stream);

} // namespace titan::interpreter
