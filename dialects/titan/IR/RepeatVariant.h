//===- RepeatVariant.h - A variant: one body of a repeat --------*- C++ -*-===//
//
// Passes visit the variants of a repeat one by one, each with the scanned inputs and stacked
// outputs that it uses. Few passes depend on the number of variants.
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
  /// The number of iterations that run this body.
  int64_t getCount() const;

  mlir::BlockArgument getIndex() const { return getBlock().getArgument(0); }
  mlir::Block::BlockArgListType getIterArgs() const;
  mlir::Block::BlockArgListType getScannedArgs() const;
  /// The yielded values of the next iteration arguments.
  mlir::OperandRange getYieldedIterArgs() const;

  /// A scanned input of the repeat and its slot, the block argument.
  struct ScannedInput {
    mlir::Value input;
    mlir::BlockArgument slot;
    unsigned number; ///< of the scanned input
  };
  llvm::SmallVector<ScannedInput> getScannedInputs() const;

  /// A yielded value and the stacked output.
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

/// The variant whose body is `block`; none if `block` is no body of a repeat.
std::optional<RepeatVariant> findVariant(mlir::Block *block);

/// The executions of `op` per execution of its function: the product over the enclosing repeats.
int64_t countExecutions(mlir::Operation *op);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_REPEATVARIANT_H
