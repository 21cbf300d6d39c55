// The memory of a virtual rank.
//
// Before the memory phase, every value has its own tensor. After it, values share the allocations
// of an arena. A plan in which two live values share memory then computes wrong numbers, as the
// emitted program would.
#pragma once

#include "compiler/interpreter/RankMesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>

namespace titan::interpreter {

using TensorRef = std::shared_ptr<const ir::HostTensor>;

class Memory {
public:
  virtual ~Memory() = default;

  virtual TensorRef read(mlir::Value value) const = 0;
  /// Stores `tensor` as `value`. Emits errors at the location of the value.
  virtual mlir::LogicalResult write(mlir::Value value, TensorRef tensor) = 0;

  /// Sets an argument of a repeat's body to slot `slot` of a scanned input.
  virtual mlir::LogicalResult loadSlot(mlir::BlockArgument argument, mlir::Value whole,
                                       int64_t slot) = 0;
  /// Reads slot `slot` of a stack, of type `type`.
  virtual TensorRef readSlot(mlir::Value stack, int64_t slot, ir::NamedTensorType type) const = 0;
  /// Starts an empty stacked output; then stores `value` into its slot `slot`.
  virtual void beginStack(mlir::Value stack) = 0;
  virtual mlir::LogicalResult storeSlot(mlir::OpResult stack, int64_t slot, mlir::Value value) = 0;
  /// Assigns `values` to the iteration arguments (or results) `arguments` of a repeat.
  virtual mlir::LogicalResult assign(mlir::ValueRange arguments, mlir::ValueRange values) = 0;

  /// Emits an error if `op` would overwrite an operand that it still reads.
  virtual mlir::LogicalResult checkOverlap(mlir::Operation *op) const = 0;
  /// Called when the rank starts a repeat or finishes any other operation: poisons dead
  /// allocations.
  virtual void begun(ir::RepeatOp) {}
  /// Called when an iteration of the innermost repeat starts.
  virtual void beginIteration() {}
  virtual void finished(mlir::Operation *) {}
  /// The operands of the return.
  virtual mlir::FailureOr<std::vector<TensorRef>> returnFrom(mlir::func::ReturnOp op) = 0;

  /// The repeats that the rank is executing, outermost first.
  struct Loop {
    int64_t index;
    ir::RepeatOp repeat;
  };
  std::vector<Loop> loops;
};

/// A memory with one tensor per value.
std::unique_ptr<Memory> makeValueMemory(const RankMesh &mesh);

/// A memory with the planned allocations of `function` in one arena. Arguments must be written
/// before the function starts.
mlir::FailureOr<std::unique_ptr<Memory>> makeArenaMemory(mlir::func::FuncOp function,
                                                         const RankMesh &mesh);

/// True if `function` has a memory plan.
bool isPlanned(mlir::func::FuncOp function);

} // namespace titan::interpreter
