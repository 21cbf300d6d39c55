//===- Session.h - A program run step by step -------------------*- C++ -*-===//
//
// Holds the local parts of a program's arguments between steps, feeds updates back, and gives the
// results as global values by role. Everything that compares programs works on those, so two
// programs may lie on different meshes.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_SESSION_H
#define TITAN_COMPILER_INTERPRETER_SESSION_H

#include "compiler/interpreter/Arguments.h"
#include "compiler/interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::interpreter {

struct Result {
  Role role;
  /// Results of one sort and size: "gradient", "param" for updated parameters, "m" and "v" for
  /// updated state of these names; empty for outputs, which are each of its own sort.
  std::string family;
  ir::NamedTensorType type;
  ir::HostTensor global;
};

class Session {
public:
  /// Runs `programs` (names, comma-separated; rank r runs the (r mod n)-th; empty: the first
  /// function). All must have the same arguments and results. A program without shardings runs on
  /// one rank.
  static mlir::FailureOr<Session> create(mlir::ModuleOp module, llvm::StringRef programs,
                                         int64_t autoDegree, Settings settings);

  /// Runs one step. With `keep`, updated arguments take their new values.
  mlir::LogicalResult step(bool keep = true);

  mlir::func::FuncOp getFunction() { return functions.front(); }
  const RankMesh &getMesh() const { return *mesh; }
  /// Results of the last step: local by rank, and assembled.
  const RankTensors &getLocalResults() const { return locals; }
  const std::vector<Result> &getResults() const { return results; }
  /// The result of this role, or null.
  const Result *find(const Role &role) const;

  /// An argument's global value, and how to replace it.
  mlir::FailureOr<ir::HostTensor> getArgument(unsigned index);
  void setArgument(unsigned index, const ir::HostTensor &global);

private:
  Session(std::vector<mlir::func::FuncOp> functions, std::unique_ptr<RankMesh> mesh,
          Settings settings)
      : functions(std::move(functions)), mesh(std::move(mesh)), settings(std::move(settings)) {}

  mlir::LogicalResult makeArguments(bool everyStep);
  mlir::FailureOr<ir::HostTensor> assembleAt(ir::NamedTensorType type, const RankTensors &tensors,
                                             unsigned index, const std::string &name);

  std::vector<mlir::func::FuncOp> functions;
  std::unique_ptr<RankMesh> mesh;
  Settings settings;
  int64_t nextStep = 1;
  RankTensors arguments, locals;
  std::vector<Result> results;
};

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_SESSION_H
