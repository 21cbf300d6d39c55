// Runs a program step by step.
//
// Stores the shards of a program's arguments between steps, applies updates, and returns the
// results as global values by role. Comparisons use global values, so the programs may have
// different meshes.
//
// A program that was split into turns has a session for each turn. A step runs those that are due,
// one after the other; each update reaches the arguments of all turns.
#pragma once

#include "compiler/interpreter/Arguments.h"
#include "compiler/interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::interpreter {

struct Result {
  Role role;
  /// Results of one kind: "gradient", "param" for updated parameters, "m" and "v" for updated
  /// states of these names. Empty for outputs, which belong to no family.
  std::string family;
  ir::NamedTensorType type;
  ir::HostTensor global;
  /// The function that returns it, and the index among its results.
  mlir::func::FuncOp function;
  unsigned index;
};

class Session {
public:
  /// Runs `programs`: names separated by commas; rank r runs number r mod n; empty: the first
  /// function. All must have the same arguments and results. A program without shardings runs on
  /// one rank. "train" also names the turns of a train program.
  static mlir::FailureOr<Session> create(mlir::ModuleOp module, llvm::StringRef programs,
                                         int64_t autoDegree, Settings settings);

  /// Runs one step. With `keep`, updates replace the arguments.
  mlir::LogicalResult step(bool keep = true);

  mlir::func::FuncOp getFunction() { return functions.front(); }
  const RankMesh &getMesh() const { return *mesh; }
  /// The results of the last step: shards by rank, and global values.
  const RankTensors &getLocalResults() const { return locals; }
  const std::vector<Result> &getResults() const { return results; }
  /// The result with this role, or null.
  const Result *find(const Role &role) const;

  /// Read and replace the global value of an argument.
  mlir::FailureOr<ir::HostTensor> getArgument(unsigned index);
  void setArgument(unsigned index, const ir::HostTensor &global);

private:
  Session(std::vector<mlir::func::FuncOp> functions, std::unique_ptr<RankMesh> mesh,
          Settings settings)
      : functions(std::move(functions)), mesh(std::move(mesh)), settings(std::move(settings)) {}

  static mlir::FailureOr<Session> createTurns(mlir::ModuleOp module,
                                              llvm::ArrayRef<mlir::func::FuncOp> turns,
                                              int64_t autoDegree, const Settings &settings);
  mlir::LogicalResult stepTurns(bool keep);
  mlir::LogicalResult runTurn(Session &turn, bool keep);
  mlir::LogicalResult passOnUpdate(Session &turn, unsigned argument);
  /// Sets the arguments that change in every step, or else those that persist between steps.
  mlir::LogicalResult makeArguments(bool everyStep);
  /// The global value from the shards at `index` of all ranks; errors name it `name`.
  mlir::FailureOr<ir::HostTensor> assembleAt(ir::NamedTensorType type, const RankTensors &tensors,
                                             unsigned index, const std::string &name);

  std::vector<mlir::func::FuncOp> functions;
  std::vector<Session> turns; ///< of `functions`, if the program is split; then without arguments
  std::unique_ptr<RankMesh> mesh;
  Settings settings;
  int64_t nextStep = 1;
  RankTensors arguments, locals;
  std::vector<Result> results;
};

} // namespace titan::interpreter
