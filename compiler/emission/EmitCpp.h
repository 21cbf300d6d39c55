//===- EmitCpp.h - From planned IR to C++ source ----------------*- C++ -*-===//
//
// The last phase: a module whose values have places (`--titan-plan-memory`) becomes one C++ file
// that defines what runtime/include/titan/runtime/program.h asks for. Emission decides nothing
// about memory or communication; it chooses names, loops and calls.
//
// Fails with a diagnostic on what it cannot express; nothing is left out silently.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_EMITCPP_H
#define TITAN_COMPILER_EMISSION_EMITCPP_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::emission {

enum class Target { Cpu, Cuda };

/// For `Target::Cuda` the file is CUDA C++ (.cu): the same functions, their loops as kernels.
///
/// `degreeOne` is the same program compiled for the degree 1 of the axis that is `auto` in
/// `module`, or null. The file then holds both and takes this one where the launch gives that
/// degree: what moves nothing needs neither a collective nor a place for what it would have moved.
mlir::LogicalResult emitCpp(mlir::ModuleOp module, mlir::ModuleOp degreeOne, llvm::raw_ostream &out,
                            Target target);

/// Registers `--titan-to-cpp` and `--titan-to-cuda` with titan-translate.
void registerToCpp();

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_EMITCPP_H
