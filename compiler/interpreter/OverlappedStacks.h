// Stacks that share memory within a repeat.
//
// The slots of overlapping stacks (titan.stack_overlaps) have their own live ranges. A produced
// slot is live from the start of the iteration that writes it; a consumed slot is dead after the
// iteration that reads it.
#pragma once

#include "compiler/interpreter/Memory.h"

namespace titan::interpreter {

class OverlappedStacks {
public:
  explicit OverlappedStacks(mlir::func::FuncOp function);

  /// The slot of one iteration in a stack.
  struct Slot {
    ir::AllocRefAttr ref;
    ir::NamedTensorType type;
  };
  /// The slots that the current iteration of the innermost of `loops` consumes and produces.
  llvm::SmallVector<Slot> getConsumed(llvm::ArrayRef<Memory::Loop> loops) const {
    return getSlots(consumed, loops);
  }
  llvm::SmallVector<Slot> getProduced(llvm::ArrayRef<Memory::Loop> loops) const {
    return getSlots(produced, loops);
  }

  /// The repeat that consumes or produces a transient allocation; null if none does.
  mlir::Operation *getConsumer(int64_t allocation) const { return consumers.lookup(allocation); }
  mlir::Operation *getProducer(int64_t allocation) const { return producers.lookup(allocation); }

private:
  struct Stack {
    Slot slot;
    llvm::SmallVector<int64_t> users;
  };
  using Stacks = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Stack>>;

  void collect(ir::RepeatOp repeat);
  static llvm::SmallVector<Slot> getSlots(const Stacks &stacks, llvm::ArrayRef<Memory::Loop> loops);

  Stacks consumed, produced;
  llvm::DenseMap<int64_t, mlir::Operation *> consumers, producers;
};

} // namespace titan::interpreter
