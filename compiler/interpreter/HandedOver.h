//===- HandedOver.h - Slots that change hands in an iteration ---*- C++ -*-===//
//
// Of stacks that a repeat hands over (titan.handovers), memory changes its owner slot by slot: a
// slot that is filled begins to live with the iteration that writes it, one that is emptied is gone
// with the iteration that reads it.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_HANDEDOVER_H
#define TITAN_COMPILER_INTERPRETER_HANDEDOVER_H

#include "compiler/interpreter/Memory.h"

namespace titan::interpreter {

class HandedOver {
public:
  explicit HandedOver(mlir::func::FuncOp function);

  /// The slot that an iteration has in a stack.
  struct Slot {
    ir::PlaceAttr place;
    ir::NamedTensorType type;
  };
  /// What the running iteration of the innermost of `loops` empties, and what it fills.
  llvm::SmallVector<Slot> getEmptied(llvm::ArrayRef<Memory::Loop> loops) const {
    return getSlots(emptied, loops);
  }
  llvm::SmallVector<Slot> getFilled(llvm::ArrayRef<Memory::Loop> loops) const {
    return getSlots(filled, loops);
  }

  /// The repeat that empties or fills a transient buffer; null where none does.
  mlir::Operation *getEmptier(int64_t buffer) const { return emptiers.lookup(buffer); }
  mlir::Operation *getFiller(int64_t buffer) const { return fillers.lookup(buffer); }

private:
  struct Stack {
    Slot slot;
    llvm::SmallVector<int64_t> users;
  };
  using Stacks = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Stack>>;

  void collect(ir::RepeatOp repeat);
  static llvm::SmallVector<Slot> getSlots(const Stacks &stacks, llvm::ArrayRef<Memory::Loop> loops);

  Stacks emptied, filled;
  llvm::DenseMap<int64_t, mlir::Operation *> emptiers, fillers;
};

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_HANDEDOVER_H
