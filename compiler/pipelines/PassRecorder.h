// The names of passes that fail or crash.
#pragma once

#include "mlir/Pass/PassInstrumentation.h"

#include <memory>
#include <string>

namespace titan::pipelines {

/// An instrumentation that sets `failed` to the flag of the first pass that fails. While a pass
/// runs, its thread knows it.
std::unique_ptr<mlir::PassInstrumentation> makePassRecorder(std::string &failed);

/// Makes a crash of the program `name` print its stack, and the pass that this thread runs.
void reportCrashes(const char *name);

} // namespace titan::pipelines
