// The linear order of a function's events.
//
// Numbers the operations of a function in execution order. A repeat has one event at its start and
// one at its end; between them, each body is numbered once, one body after the other. A live range
// within one iteration therefore has the same events in every iteration of its variant. A captured
// value or a scanned input is live until the end of the repeat, because the next iteration reads it
// again.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace titan::memory {

/// The events of one function.
class Liveness {
public:
  explicit Liveness(mlir::FunctionOpInterface function);

  /// The first and the last event of an operation; equal except for repeats.
  int64_t getStart(mlir::Operation *op) const { return start.lookup(op); }
  int64_t getEnd(mlir::Operation *op) const { return end.lookup(op); }
  int64_t getNumEvents() const { return next; }
  /// The event that defines `value`: the event of its operation, or the first event of its block.
  int64_t getDefinition(mlir::Value value) const;
  /// The last event that reads `value` or a view of it, or its definition if no operation reads it.
  int64_t getLastUse(mlir::Value value) const;

private:
  void number(mlir::Block &block);
  int64_t getUse(mlir::OpOperand &use) const;

  llvm::DenseMap<mlir::Operation *, int64_t> start, end;
  int64_t next = 0;
};

/// Whether a body of `repeat` copies an argument into its slot of `stack`, which it does before
/// anything else, and reads its slot of `scanned`. Then the two slots cannot share memory.
bool writesBeforeReading(ir::RepeatOp repeat, mlir::OpResult stack, mlir::Value scanned);

} // namespace titan::memory
