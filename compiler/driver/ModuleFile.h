// A file of IR as input of titanc, in place of a .titan file.
#pragma once

#include "compiler/driver/CompilerInstance.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace titan::driver {

/// Whether the input is IR: its name ends in .mlir.
bool isModuleFile(const CommonOptions &options);

/// Refuses options of runs, which the settings in the IR replace. Throws CLI::ParseError.
void refuseRunOptions(const CommonOptions &options);

/// Reads and verifies the module. Sources that its locations name are loaded for diagnostics, where
/// they are still there. Null after a reported error.
mlir::OwningOpRef<mlir::ModuleOp> parseModuleFile(CompilerInstance &instance,
                                                  mlir::MLIRContext &context);

} // namespace titan::driver
