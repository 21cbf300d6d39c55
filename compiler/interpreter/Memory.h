//===- Memory.h - Where a virtual rank keeps its values ---------*- C++ -*-===//
//
// Before the memory phase every value has room of its own. After it, values lie in buffers of an
// arena, which they share: then nothing may be read that was overwritten, so a plan that lets two
// live values meet computes wrong numbers here as it would in the emitted program.
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

  /// Makes a repeat's argument slice `slot` of a value outside.
  virtual mlir::LogicalResult loadSlot(mlir::BlockArgument argument, mlir::Value whole,
                                       int64_t slot) = 0;
  /// Slice `slot` of a stack, which is `type`.
  virtual TensorRef readSlot(mlir::Value stack, int64_t slot, ir::NamedTensorType type) const = 0;
  /// Starts a stacked result with nothing in it; puts `value` into `slot` of it.
  virtual void beginStack(mlir::Value stack) = 0;
  virtual mlir::LogicalResult storeSlot(mlir::OpResult stack, int64_t slot, mlir::Value value) = 0;
  /// Makes `values` the next values of a repeat's carried `arguments` (or its results).
  virtual mlir::LogicalResult assign(mlir::ValueRange arguments, mlir::ValueRange values) = 0;

  /// Complains where an operation would overwrite an operand that it still reads.
  virtual mlir::LogicalResult checkOverlap(mlir::Operation *op) const = 0;
  /// The rank has begun a repeat, or has finished any other operation: what lives no longer is
  /// gone.
  virtual void begun(ir::RepeatOp) {}
  /// An iteration of the innermost repeat begins.
  virtual void beginIteration() {}
  virtual void finished(mlir::Operation *) {}
  /// What the function returns.
  virtual mlir::FailureOr<std::vector<TensorRef>> returnFrom(mlir::func::ReturnOp op) = 0;

  /// The repeats that the rank is in, outermost first.
  struct Loop {
    int64_t index;
    ir::RepeatOp repeat;
  };
  std::vector<Loop> loops;
};

/// Room of its own for every value.
std::unique_ptr<Memory> makeValueMemory(const RankMesh &mesh);

/// The buffers that `function` was given by the memory phase, laid into one arena. Arguments must
/// be written before the start.
mlir::FailureOr<std::unique_ptr<Memory>> makeArenaMemory(mlir::func::FuncOp function,
                                                         const RankMesh &mesh);

/// Whether the memory phase has planned `function`.
bool isPlanned(mlir::func::FuncOp function);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_MEMORY_H
