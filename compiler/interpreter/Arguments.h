//===- Arguments.h - What a program's arguments start with ------*- C++ -*-===//
//
// Global values of a function's arguments by their role attributes: parameters by the same Philox
// streams as the runtime's, state zero, inputs from a file or drawn from the seed, scalars from the
// options. An argument may instead carry its value in the IR (`titan.value`, a dense attribute of
// one row-major dimension), which is how tests write numbers that can be checked by hand.
//
// Generated tokens depend on seed, step, sample and position only, labels are the tokens one
// position further; so every mesh sees the same data.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_ARGUMENTS_H
#define TITAN_COMPILER_INTERPRETER_ARGUMENTS_H

#include "compiler/interpreter/RankMesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>

namespace titan::interpreter {

struct Settings {
  uint64_t seed = 0;
  double lr = 1e-3;
  int64_t warmup = 0; ///< steps over which lr rises linearly; 0: none
  int64_t vocab = 0;  ///< bound of generated tokens; 0: what the program says
  std::map<std::string, ir::HostTensor> given; ///< values by role name, read from a file
};

/// A function's arguments or results have a kind and a name: "param layers.wq", "input tokens",
/// "state m.table", "scalar lr", "output loss", "gradient table", "update layers.wq"; where there
/// is no role attribute, "value 0".
struct Role {
  std::string kind, name;
  std::string of = {}; ///< the kind of the argument that an update replaces
  bool operator==(const Role &other) const {
    return kind == other.kind && name == other.name && of == other.of;
  }
  std::string str() const { return kind + " " + name; }
};
Role getArgumentRole(mlir::func::FuncOp function, unsigned index);
Role getResultRole(mlir::func::FuncOp function, unsigned index);

/// The global value of argument `index` at `step` (from 1). Parameters and state: their start.
mlir::FailureOr<ir::HostTensor> makeArgument(mlir::func::FuncOp function, unsigned index,
                                             const Settings &settings, int64_t step);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_ARGUMENTS_H
