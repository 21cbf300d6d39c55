// From planned IR to C++ source.
//
// The last phase. Converts a module with allocations (`--titan-plan-memory`) to one C++ file that
// defines the functions declared in runtime/include/titan/runtime/program.h. Emission decides
// nothing about memory or communication; it chooses names, loops and calls.
//
// An operation that cannot be expressed fails with a diagnostic; nothing is omitted silently.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>

namespace titan::emission {

enum class Target { Cpu, Cuda };

/// For `Target::Cuda` the file is CUDA C++ (.cu): the same functions, with loops as kernels.
///
/// `degreeOne` is the same program compiled for degree 1 of the `auto` axis, or null. The file then
/// contains both programs and runs this one if the launch gives degree 1: it needs neither
/// collectives nor their allocations.
mlir::LogicalResult emitCpp(mlir::ModuleOp module, mlir::ModuleOp degreeOne, llvm::raw_ostream &out,
                            Target target);

/// Registers `--titan-to-cpp` and `--titan-to-cuda` with titan-translate. `extend` adds dialects
/// that the input may contain besides Titan's.
void registerToCpp(const std::function<void(mlir::DialectRegistry &registry)> &extend);

} // namespace titan::emission
