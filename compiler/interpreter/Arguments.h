// Initial values of a program's arguments.
//
// The role of an argument determines its global value. Parameters use the same Philox streams as
// the runtime, states are zero, inputs come from a file or from the seed, scalars from the options.
// A test may instead set a value in the IR: `titan.value`, a dense attribute with one row-major
// dimension.
//
// Generated tokens depend only on seed, step, sample and position; labels are the tokens shifted by
// one position. Therefore every mesh gets the same data.
#pragma once

#include "compiler/interpreter/RankMesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace titan::interpreter {

struct Settings {
  uint64_t seed = 0;
  std::optional<double> lr = {}; ///< of every step; empty: that of the run (LearningRate.h)
  int64_t vocab = 0;             ///< bound of generated tokens; 0: that of the program
  std::map<std::string, ir::HostTensor> given; ///< values by role name, read from a file
};

/// The kind and the name of an argument or result: "param layers.wq", "input tokens", "state
/// m.table", "scalar lr", "output loss", "gradient table", "update layers.wq". Without a role
/// attribute: "value 0".
struct Role {
  std::string kind, name;
  std::string updatedKind = {}; ///< the kind of the argument that an update replaces
  bool operator==(const Role &other) const {
    return kind == other.kind && name == other.name && updatedKind == other.updatedKind;
  }
  std::string str() const { return kind + " " + name; }
};
Role getArgumentRole(mlir::func::FuncOp function, unsigned index);
Role getResultRole(mlir::func::FuncOp function, unsigned index);

/// The first positions of the chunks that a program of generation computes at `step` (from 1): one,
/// or one per slot, each one position less than that of the slot before. Empty for other programs.
std::vector<int64_t> getChunkStarts(mlir::func::FuncOp function, int64_t step);

/// The global value of argument `index` at `step` (from 1). For parameters and states: the initial
/// value.
mlir::FailureOr<ir::HostTensor> makeArgument(mlir::func::FuncOp function, unsigned index,
                                             const Settings &settings, int64_t step);

} // namespace titan::interpreter
