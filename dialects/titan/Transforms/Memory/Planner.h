// Assigns an allocation to every value of a function.
//
// One walk in program order. The allocation of a value is the first of these that applies:
//   1. none, if the value is inline; the operand's, if the value is a view;
//   2. its preferred allocation (the slot of a stack, the updated argument, an iteration argument),
//      if no live value is in it, or a stack that the repeat replaces slot by slot;
//   3. the allocation of an operand whose last use is this operation;
//   4. a new allocation.
// The yield or return copies every value that is not in its preferred allocation.
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::memory {

/// The persistent allocations of a module.
class PersistentTable {
public:
  /// Tensors of the roles `offloadedRoles` (`titan.state`) are in memory of the host.
  PersistentTable(const BlockStorage &storage, llvm::SmallVector<llvm::StringRef> offloadedRoles)
      : storage(storage), offloadedRoles(std::move(offloadedRoles)) {}
  /// The index of the allocation of a tensor; creates the allocation at the first request. Emits an
  /// error at `user` if the tensor has another type in another function.
  mlir::FailureOr<int64_t> get(const PersistentKey &key, ir::NamedTensorType type,
                               mlir::Operation *user);
  mlir::ArrayAttr toAttribute(mlir::MLIRContext *context) const;
  llvm::ArrayRef<ir::AllocationAttr> getAllocations() const { return allocations; }

private:
  const BlockStorage &storage;
  llvm::SmallVector<llvm::StringRef> offloadedRoles;
  llvm::DenseMap<PersistentKey, int64_t> indices;
  llvm::SmallVector<ir::AllocationAttr> allocations;
};

/// Plans one program function. The methods are defined by subject: PlanArguments.cpp,
/// PlanInPlace.cpp, PlanRepeat.cpp, PlanScratch.cpp, PlanStackOverlaps.cpp, and Planner.cpp.
class Planner {
public:
  Planner(mlir::func::FuncOp function, PersistentTable &persistent);
  /// Writes the plan into the function. Fails with an error if an argument or result has no role,
  /// if programs disagree on a persistent tensor, or if copies of a terminator would overwrite one
  /// another's operands.
  mlir::LogicalResult run();

  size_t getNumAllocations() const { return allocations.size(); }
  /// The results that reuse the allocation of an operand.
  size_t getNumShared() const { return numShared; }

private:
  /// An allocation that is being planned; see #titan.allocation.
  struct Allocation {
    std::string name;
    ir::NamedTensorType type;
    int64_t first, last; ///< events of the live range
    mlir::ArrayAttr pad;
    llvm::SmallVector<mlir::Value> values = {}; ///< the values that it contains in turn
    mlir::StringAttr per = nullptr;
  };
  /// The preferred allocation of a value. `onlyIfFree`: only if no live value is in it.
  struct Preference {
    ir::AllocRefAttr ref;
    bool onlyIfFree;
  };

  // Arguments and results.
  mlir::LogicalResult assignArguments();
  mlir::FailureOr<ir::AllocRefAttr> getArgumentRef(mlir::BlockArgument argument);
  mlir::LogicalResult preferResults();
  mlir::LogicalResult verifyReturn();
  mlir::FailureOr<ir::AllocRefAttr> getResultRef(mlir::OpOperand &returned);

  // Preferences. A preference for a value is one for the operand that its operation may overwrite
  // (`preferInPlace`) and for the initial value of an iteration argument (`preferInit`), too.
  void prefer(mlir::Value value, ir::AllocRefAttr ref, bool onlyIfFree);
  void preferInPlace(mlir::OpResult result, ir::AllocRefAttr ref);
  void preferInit(mlir::OpResult result, ir::AllocRefAttr ref);

  // Operations.
  mlir::LogicalResult planBlock(mlir::Block &block);
  void planOp(mlir::Operation *op);
  ir::AllocRefAttr chooseAllocation(mlir::OpResult result);
  /// The allocation of an operand at its last use, which the result may overwrite; null if none.
  ir::AllocRefAttr findLastUseOperand(mlir::OpResult result);

  // Repeats.
  mlir::LogicalResult planRepeat(ir::RepeatOp repeat);
  /// True if `stack` may replace a scanned stack in `ref` slot by slot.
  bool replacesSlots(ir::RepeatOp repeat, mlir::OpResult stack, ir::AllocRefAttr ref);
  void assignStacks(ir::RepeatOp repeat, llvm::SmallVectorImpl<mlir::Attribute> &refs);
  void assignIterArgs(ir::RepeatOp repeat, llvm::SmallVectorImpl<mlir::Attribute> &refs);
  mlir::LogicalResult planVariant(ir::RepeatVariant body, llvm::ArrayRef<mlir::Attribute> iterArgs,
                                  llvm::SmallVectorImpl<mlir::Attribute> &arguments);
  /// True if `result`, in `ref`, would be overwritten before the yield copies it.
  bool blocksYield(mlir::OpResult result, ir::AllocRefAttr ref);
  mlir::LogicalResult verifyYield(ir::RepeatVariant body);

  // Scratch of kernels, and padding of flat tensors.
  void planScratch(mlir::Operation *op);
  void planPadding(mlir::Operation *op);
  /// Pads the allocation for these axes. False if it cannot be padded.
  bool pad(ir::AllocRefAttr ref, mlir::ArrayAttr axes);

  // Stacks that share memory.
  void planStackOverlaps(ir::RepeatOp repeat);
  /// True if each iteration uses only its own slot of `stack`, and nothing else is in its memory.
  bool usesOwnSlotsOnly(ir::RepeatOp repeat, mlir::Value stack);
  /// True if `scanned` is the last use of its stack.
  bool isConsumed(ir::RepeatOp repeat, mlir::OpOperand &scanned);

  ir::AllocRefAttr makeAllocation(std::string name, ir::NamedTensorType type, int64_t first,
                                  int64_t last);
  ir::AllocRefAttr makeAllocation(mlir::Value value, int64_t first, int64_t last);
  void assign(mlir::Value value, ir::AllocRefAttr ref);
  Allocation &getAllocation(ir::AllocRefAttr ref);
  /// The last event that reads any value of the allocation.
  int64_t getLiveUntil(ir::AllocRefAttr ref);
  ir::AllocRefAttr getInlineRef();
  ir::AllocRefAttr getPersistentRef(int64_t index);
  /// Writes the plan as attributes (MemoryPlan.h).
  void writeAttributes();

  mlir::func::FuncOp function;
  PersistentTable &persistent;
  Liveness liveness;
  mlir::MLIRContext *context;
  llvm::SmallVector<Allocation> allocations;
  llvm::DenseMap<int64_t, Allocation> persistentUse; ///< by index: live ranges in this function
  llvm::DenseMap<mlir::Value, ir::AllocRefAttr> refs;
  llvm::DenseMap<mlir::Value, Preference> preferences;
  llvm::DenseSet<ir::AllocRefAttr> replaced; ///< stacks that a repeat replaces slot by slot
  size_t numShared = 0;
  int64_t depth = 0;     ///< number of enclosing repeats
  mlir::Region *current; ///< the body that is being planned
};

} // namespace titan::memory
