//===- Planner.h - Gives the values of a function their buffers -*- C++ -*-===//
//
// One walk in program order. A value goes, in order of preference: nowhere (it is inline, or a view
// of what another value holds); where it must end up (a stack's slot, the argument it updates, what
// a repeat carries), if nothing there is still needed; into the buffer of an operand that dies
// here; into a buffer of its own. Whatever did not end up where it must is copied by the yield or
// return.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_PLANNER_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_PLANNER_H

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::memory {

/// The buffers that all functions of a module share.
class PersistentTable {
public:
  explicit PersistentTable(const BlockStorage &storage) : storage(storage) {}
  /// The buffer of a tensor, made where there is none yet. Emits an error at `at` when it exists
  /// with another type.
  mlir::FailureOr<int64_t> get(const PersistentKey &key, ir::NamedTensorType type,
                               mlir::Operation *at);
  mlir::ArrayAttr toAttribute(mlir::MLIRContext *context) const;
  llvm::ArrayRef<ir::BufferAttr> getBuffers() const { return buffers; }

private:
  const BlockStorage &storage;
  llvm::DenseMap<PersistentKey, int64_t> indices;
  llvm::SmallVector<ir::BufferAttr> buffers;
};

class Planner {
public:
  Planner(mlir::func::FuncOp function, PersistentTable &persistent);
  /// Plans and writes the attributes.
  mlir::LogicalResult run();

private:
  struct Buffer {
    std::string name;
    ir::NamedTensorType type;
    int64_t first, last;
    mlir::ArrayAttr pad;
    llvm::SmallVector<mlir::Value> values = {};
    mlir::StringAttr per = nullptr;
  };
  /// Where a value should be computed; `whenFree`: only if what lies there is no longer needed.
  struct Wish {
    ir::PlaceAttr place;
    bool whenFree;
  };

  mlir::LogicalResult placeArguments();
  mlir::FailureOr<ir::PlaceAttr> getArgumentPlace(mlir::BlockArgument argument);
  mlir::LogicalResult wishResults();
  mlir::LogicalResult verifyReturn();
  mlir::FailureOr<ir::PlaceAttr> getResultPlace(mlir::OpOperand &returned);
  void wish(mlir::Value value, ir::PlaceAttr place, bool whenFree);
  void wishInPlace(mlir::OpResult result, ir::PlaceAttr place);
  void wishInit(mlir::OpResult result, ir::PlaceAttr place);
  mlir::LogicalResult planBlock(mlir::Block &block);
  void planOp(mlir::Operation *op);
  ir::PlaceAttr choosePlace(mlir::OpResult result);
  ir::PlaceAttr findDyingOperand(mlir::OpResult result);
  mlir::LogicalResult planRepeat(ir::RepeatOp repeat);
  void placeStacks(ir::RepeatOp repeat, llvm::SmallVectorImpl<mlir::Attribute> &places);
  void placeCarried(ir::RepeatOp repeat, llvm::SmallVectorImpl<mlir::Attribute> &places);
  mlir::LogicalResult planVariant(ir::RepeatVariant body, llvm::ArrayRef<mlir::Attribute> carried,
                                  llvm::SmallVectorImpl<mlir::Attribute> &arguments);
  bool blocksYield(mlir::OpResult result, ir::PlaceAttr place);
  mlir::LogicalResult verifyYield(ir::RepeatVariant body);
  void planScratch(mlir::Operation *op);
  void planPadding(mlir::Operation *op);
  bool pad(ir::PlaceAttr place, mlir::ArrayAttr axes);
  void planHandovers(ir::RepeatOp repeat);
  bool holdsOwnSlots(ir::RepeatOp repeat, mlir::Value stack);
  bool isEmptied(ir::RepeatOp repeat, mlir::OpOperand &slice);

  ir::PlaceAttr makeBuffer(std::string name, ir::NamedTensorType type, int64_t first, int64_t last);
  ir::PlaceAttr makeBuffer(mlir::Value value, int64_t first, int64_t last);
  void put(mlir::Value value, ir::PlaceAttr place);
  Buffer &getBuffer(ir::PlaceAttr place);
  /// The last event at which something in the buffer of `place` is read.
  int64_t getBusyUntil(ir::PlaceAttr place);
  ir::PlaceAttr getInlinePlace();
  ir::PlaceAttr getPersistentPlace(int64_t index);
  void writeAttributes();

  mlir::func::FuncOp function;
  PersistentTable &persistent;
  Liveness liveness;
  mlir::MLIRContext *context;
  llvm::SmallVector<Buffer> buffers;
  llvm::DenseMap<int64_t, Buffer> persistentUse;
  llvm::DenseMap<mlir::Value, ir::PlaceAttr> places;
  llvm::DenseMap<mlir::Value, Wish> wishes;
  int64_t depth = 0;     ///< number of enclosing repeats
  mlir::Region *current; ///< the body that is being planned
};

} // namespace titan::memory

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_PLANNER_H
