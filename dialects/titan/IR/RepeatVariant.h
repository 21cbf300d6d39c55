//===- RepeatVariant.h - One body of a repeat -------------------*- C++ -*-===//
//
// A repeat has one body or several. Passes look at one after the other, and at the slices and
// stacks that this one uses, so that few of them care how many there are.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_IR_REPEATVARIANT_H
#define TITAN_DIALECTS_TITAN_IR_REPEATVARIANT_H

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

class RepeatVariant {
public:
  RepeatVariant(RepeatOp repeat, unsigned number) : repeat(repeat), number(number) {}

  RepeatOp getRepeat() const { return repeat; }
  unsigned getNumber() const { return number; }
  mlir::Region &getRegion() const { return repeat->getRegion(number); }
  mlir::Block &getBlock() const { return getRegion().front(); }
  YieldOp getYield() const { return mlir::cast<YieldOp>(getBlock().getTerminator()); }
  /// How many iterations run this body.
  int64_t getCount() const;

  mlir::BlockArgument getIndex() const { return getBlock().getArgument(0); }
  mlir::Block::BlockArgListType getIterArgs() const;
  mlir::Block::BlockArgListType getScannedArgs() const;
  /// The next carried values, as yielded.
  mlir::OperandRange getYieldedIterArgs() const;

  /// A tensor outside and its slice, the argument of the body.
  struct ScannedInput {
    mlir::Value input;
    mlir::BlockArgument slot;
    unsigned number; ///< among all slices of the repeat
  };
  llvm::SmallVector<ScannedInput> getScannedInputs() const;

  /// A yielded value and the result that stacks it.
  struct StackedOutput {
    mlir::Value value;
    mlir::OpResult output;
    unsigned operand; ///< of the yield
  };
  llvm::SmallVector<StackedOutput> getStackedOutputs() const;

private:
  RepeatOp repeat;
  unsigned number;
};

/// The body that `block` is; none where it is not a repeat's.
std::optional<RepeatVariant> findVariant(mlir::Block *block);

/// How often `op` runs when its function does: the iterations of all the repeats around it.
int64_t countExecutions(mlir::Operation *op);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_REPEATVARIANT_H
