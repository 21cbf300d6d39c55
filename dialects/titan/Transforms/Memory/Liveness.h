//===- Liveness.h - The linear order of a function's events -----*- C++ -*-===//
//
// Numbers the operations of a function in the order in which they run. A repeat has an event at its
// start and one at its end, and its bodies are numbered once in between, one after the other: what
// lives within one iteration lives at the same events in every iteration of its variant. A value
// from outside that a body uses, or a slice, lives to the repeat's end, since the next iteration
// uses it again.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_LIVENESS_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_LIVENESS_H

#include "dialects/titan/IR/Titan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace titan::memory {

class Liveness {
public:
  explicit Liveness(mlir::FunctionOpInterface function);

  int64_t getStart(mlir::Operation *op) const { return start.lookup(op); }
  int64_t getEnd(mlir::Operation *op) const { return end.lookup(op); }
  int64_t getNumEvents() const { return next; }
  /// The event that makes `value`: its operation's, or its block's first.
  int64_t getDefinition(mlir::Value value) const;
  /// The last event at which `value` is read; its definition where nobody reads it.
  int64_t getLastUse(mlir::Value value) const;

private:
  void number(mlir::Block &block);
  int64_t getUse(mlir::OpOperand &use) const;

  llvm::DenseMap<mlir::Operation *, int64_t> start, end;
  int64_t next = 0;
};

} // namespace titan::memory

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_LIVENESS_H
