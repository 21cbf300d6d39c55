//===- OverlappedStacks.h - Slots that change hands in an iteration ---*- C++ -*-===//
//
// Of stacks that a repeat hands over (titan.stack_overlaps), memory changes its owner slot by slot:
// a slot that is produced begins to live with the iteration that writes it, one that is consumed is
// gone with the iteration that reads it.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_OVERLAPPEDSTACKS_H
#define TITAN_COMPILER_INTERPRETER_OVERLAPPEDSTACKS_H

#include "compiler/interpreter/Memory.h"

namespace titan::interpreter {

class OverlappedStacks {
public:
  explicit OverlappedStacks(mlir::func::FuncOp function);

  /// The slot that an iteration has in a stack.
  struct Slot {
    ir::AllocRefAttr ref;
    ir::NamedTensorType type;
  };
  /// What the running iteration of the innermost of `loops` empties, and what it fills.
  llvm::SmallVector<Slot> getConsumed(llvm::ArrayRef<Memory::Loop> loops) const {
    return getSlots(consumed, loops);
  }
  llvm::SmallVector<Slot> getProduced(llvm::ArrayRef<Memory::Loop> loops) const {
    return getSlots(produced, loops);
  }

  /// The repeat that empties or fills a transient buffer; null where none does.
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

#endif // TITAN_COMPILER_INTERPRETER_OVERLAPPEDSTACKS_H
