// One body of a repeat.
//
// A view of a repeat that shows one body with the scanned inputs and stacked outputs that it uses.
// Passes visit the bodies one by one, so that most of them need not know how many there are.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// Variant `number` of `repeat`; valid as long as the operation.
class RepeatVariant {
public:
  RepeatVariant(RepeatOp repeat, unsigned number) : repeat(repeat), number(number) {}

  RepeatOp getRepeat() const { return repeat; }
  unsigned getNumber() const { return number; }
  mlir::Region &getRegion() const { return repeat->getRegion(number); }
  mlir::Block &getBlock() const { return getRegion().front(); }
  YieldOp getYield() const { return mlir::cast<YieldOp>(getBlock().getTerminator()); }
  /// The number of iterations that run this body.
  int64_t getCount() const;

  mlir::BlockArgument getIndex() const { return getBlock().getArgument(0); }
  mlir::Block::BlockArgListType getIterArgs() const;
  mlir::Block::BlockArgListType getScannedArgs() const;
  /// The yielded iteration arguments.
  mlir::OperandRange getYieldedIterArgs() const;

  /// A scanned input and its slot, an argument of the body.
  struct ScannedInput {
    mlir::Value input;
    mlir::BlockArgument slot;
    unsigned number; ///< among all scanned inputs of the repeat
  };
  llvm::SmallVector<ScannedInput> getScannedInputs() const;

  /// A yielded value and the stacked output that stores it.
  struct StackedOutput {
    mlir::Value value;
    mlir::OpResult output;
    unsigned operand; ///< number of the yield's operand
  };
  llvm::SmallVector<StackedOutput> getStackedOutputs() const;

private:
  RepeatOp repeat;
  unsigned number;
};

/// The variant with the body `block`; none if the parent is not a repeat.
std::optional<RepeatVariant> findVariant(mlir::Block *block);

/// How often `op` runs per run of its function: the product of the iterations of all enclosing
/// repeats.
int64_t countExecutions(mlir::Operation *op);

} // namespace titan::ir
