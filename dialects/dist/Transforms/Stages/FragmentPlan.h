// The fragment of every operation.
//
// Decides in which fragment each operation of a program with stages runs. A training step has one
// loop over microbatches.
//
// In the loop, the forward repeat of stage s has position s and the reverse repeat of stage s has
// position 2S - 1 - s, for S stages; the repeat of its weight gradients, if that is apart, has
// position 2S + s. Any other operation has the greatest position of its operands:
// it runs as early as possible. Operations that depend on no repeat have the least position of
// their users, or are cloned into each user if that is cheap.
//
// After the loop, an operation belongs to the stage that stores its operands. A scalar of several
// stages (the norm of all gradients) is computed by every stage that reads it. A tensor of several
// stages (the gradient of a parameter of two stages) belongs to the stage that stores the
// parameter. The level of an operation counts the values of other stages before it. In a program
// without a loop (evaluation) this applies to all operations.
#pragma once

#include "dialects/dist/Transforms/Stages/FragmentKey.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <optional>

namespace titan::dist {

/// Whether `program` has repeats with stages.
bool hasStages(mlir::func::FuncOp program);

/// The loop over microbatches of a program with stages; null if it has none.
ir::RepeatOp findMicrobatchLoop(mlir::func::FuncOp program);

/// The stages that store parameters and caches without `titan.stage`, by role and name.
using Homes = std::map<std::pair<std::string, std::string>, int64_t>;

class FragmentPlan {
public:
  /// `loop`: over the microbatches; null for a program without.
  FragmentPlan(mlir::func::FuncOp program, ir::RepeatOp loop);

  /// Adds the first stage of this program that reads each parameter or cache, if no other program
  /// has an earlier one.
  void collectHomes(Homes &common) const;
  /// Uses the homes that all programs have in common, and assigns the operations after the loop to
  /// fragments.
  void assignUpdates(const Homes &common);
  ir::RepeatOp getLoop() const { return loop; }

  /// The fragment of an operation of the program's or the loop's block. None: each fragment that
  /// reads a result has its own copy.
  std::optional<FragmentKey> get(mlir::Operation *op) const;
  /// The stage that stores a parameter, state or cache of the program.
  int64_t getHome(mlir::BlockArgument argument) const { return homes.lookup(argument); }
  /// The stage that computes the sum over microbatches of iteration argument `index`.
  int64_t getSumStage(unsigned index) const;
  /// The fragment that can first read `value`, a value of the program's block, at `stage`.
  FragmentKey getReader(mlir::Value value, int64_t stage) const;
  /// The fragment that computes `value`, a value of the program's block.
  FragmentKey getOwnFragment(mlir::Value value) const;
  int64_t getNumStages() const { return numStages; }
  /// The last fragment of `stage`, which returns the outputs of the program: every stage returns
  /// them.
  FragmentKey getLast(int64_t stage) const { return getAt(stage, numLevels - 1); }
  /// The position of an operation in the loop's block; -1: none.
  int64_t getPosition(mlir::Operation *op) const;

private:
  /// Who computes a value of the program's block.
  struct Owner {
    enum Kind { Any, All, One } kind; ///< any fragment, all stages that read it, one stage
    int64_t stage = 0, level = 0;
  };

  void assignStaged();
  int64_t getRepeatPosition(ir::RepeatOp repeat, int64_t stage) const;
  bool runsOncePerStep(mlir::Operation *op) const;
  void findCloneable(mlir::Block &block);
  void assignUnstaged();
  void assignBegin();
  void assignParameters();
  void assignStates();
  bool isSum(mlir::BlockArgument argument) const;
  bool isCloneable(mlir::Operation *op) const;
  FragmentKey getAt(int64_t stage, int64_t level) const;
  std::optional<int64_t> findFirstStage(mlir::Value value) const;
  std::optional<int64_t> findLeastPosition(mlir::Value value) const;
  int64_t getStageAt(int64_t position) const;
  Owner getOwner(mlir::Value value) const;
  Owner combine(mlir::Operation *op) const;

  mlir::func::FuncOp program;
  ir::RepeatOp loop;
  mlir::Block &top, &body;
  int64_t numStages = 0, numLevels = 1;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::DenseSet<mlir::Operation *> cloneable;
  /// Results of cloneable operations on parameters or states.
  llvm::DenseSet<mlir::Value> weights;
  llvm::DenseMap<mlir::Operation *, int64_t> beginStages;
  llvm::DenseMap<mlir::Value, int64_t> homes;
  llvm::DenseMap<mlir::Operation *, Owner> owners;
};

} // namespace titan::dist
