//===- Memory.h - Memory of a virtual rank ----------------------*- C++ -*-===//
//
// Before the memory phase every value has its own memory. Afterwards values share allocations in an
// arena. A plan that lets two live values overlap then computes wrong numbers in the interpreter,
// as it would in the emitted program.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_MEMORY_H
#define TITAN_COMPILER_INTERPRETER_MEMORY_H

#include "compiler/interpreter/RankMesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>

namespace titan::interpreter {

using TensorRef = std::shared_ptr<const ir::HostTensor>;

class Memory {
public:
  virtual ~Memory() = default;

  virtual TensorRef read(mlir::Value value) const = 0;
  /// Stores `tensor` as `value`. Errors are emitted at the value.
  virtual mlir::LogicalResult write(mlir::Value value, TensorRef tensor) = 0;

  /// Sets a scanned block argument to `slot` of a value.
  virtual mlir::LogicalResult loadSlot(mlir::BlockArgument argument, mlir::Value whole,
                                       int64_t slot) = 0;
  /// Slot `slot`, of type `type`, of a stacked value.
  virtual TensorRef readSlot(mlir::Value stack, int64_t slot, ir::NamedTensorType type) const = 0;
  /// Allocate a stacked output; store `value` into its `slot`.
  virtual void beginStack(mlir::Value stack) = 0;
  virtual mlir::LogicalResult storeSlot(mlir::OpResult stack, int64_t slot, mlir::Value value) = 0;
  /// Assigns `values` to a repeat's iteration `arguments` or results, all at once.
  virtual mlir::LogicalResult assign(mlir::ValueRange arguments, mlir::ValueRange values) = 0;

  /// Reports an error if an operation would overwrite an operand before it is read.
  virtual mlir::LogicalResult checkOverlap(mlir::Operation *op) const = 0;
  /// The rank has begun a repeat, or has finished any other operation. Allocations whose live range
  /// ends here are poisoned.
  virtual void begun(ir::RepeatOp) {}
  /// An iteration of the innermost repeat begins.
  virtual void beginIteration() {}
  virtual void finished(mlir::Operation *) {}
  /// The function's results.
  virtual mlir::FailureOr<std::vector<TensorRef>> returnFrom(mlir::func::ReturnOp op) = 0;

  /// The enclosing repeats, outermost first.
  struct Loop {
    int64_t index;
    ir::RepeatOp repeat;
  };
  std::vector<Loop> loops;
};

/// Memory in which every value is separate.
std::unique_ptr<Memory> makeValueMemory(const RankMesh &mesh);

/// The arena of `function`, from the plan of the memory phase. Arguments must be written before the
/// start.
mlir::FailureOr<std::unique_ptr<Memory>> makeArenaMemory(mlir::func::FuncOp function,
                                                         const RankMesh &mesh);

/// Whether the memory phase has planned `function`.
bool isPlanned(mlir::func::FuncOp function);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_MEMORY_H
