//===- BlockStorage.h - Parameters that are stored by block -----*- C++ -*-===//
//
// What a rank stores of one block (one iteration of a repeat) is one stretch of memory, its bucket:
// the chunks of all parameters that the repeat stacks, one behind the other. So a block goes over a
// wire, or to a file or another memory, as it lies. The moments that an optimizer keeps of these
// parameters have buckets of their own.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_BLOCKSTORAGE_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_BLOCKSTORAGE_H

#include "base/arena/PersistentLayout.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::memory {

/// Whether `op` may read and write whole stacks whose slots lie apart from one another.
bool iteratesSlots(mlir::Operation *op);

/// Whether the operation of `use` reads a stack's slots one by one, wherever each lies.
bool readsSlots(mlir::OpOperand &use);

/// Whether `place` is that of a whole stack, or of several slots, that lie apart in a bucket of the
/// module's `persistent` buffers.
bool hasStridedSlots(ir::AllocRefAttr ref, llvm::ArrayRef<ir::AllocationAttr> persistent);

/// What is laid out of a persistent buffer that takes so many bytes on a rank.
arena::PersistentItem getPersistentItem(ir::AllocationAttr allocation, int64_t bytes);

/// Slots of a flat tensor: each is in chunks of its own.
int64_t countSlots(ir::NamedTensorType type);

/// What a persistent tensor is called in all programs of a module: its role, one of `titan.param`,
/// `titan.state` and `titan.scalar`, and its name. Names alone are not unique: users choose those
/// of parameters, which may be called `lr`, or `m.w` beside a `w` whose first moment is `m.w`.
struct PersistentKey {
  mlir::StringAttr role, name;
  explicit operator bool() const { return bool(name); }
  bool operator==(const PersistentKey &other) const {
    return role == other.role && name == other.name;
  }
};

/// That of a function's argument; false for an input or one without a role.
PersistentKey getPersistentKey(mlir::func::FuncOp function, unsigned argument);

/// Which parameters and states of a module are stored by block: those that are stacked and stored
/// flat, where all that reads or replaces a whole stack can step from slot to slot. Others lie
/// alone.
class BlockStorage {
public:
  explicit BlockStorage(mlir::ModuleOp module);
  /// The bucket of a tensor: `layers` for `layers.wq`, `m.layers` for the state `m.layers.wq`;
  /// where a repeat's parameters differ in type or in the axes that store them, `layers:2` and so
  /// on for the others. Null for what lies alone.
  mlir::StringAttr getBucket(const PersistentKey &key) const { return buckets.lookup(key); }

private:
  llvm::DenseMap<PersistentKey, mlir::StringAttr> buckets;
};

/// Refuses buckets whose buffers are not stacked and flat, or differ in their slots or element
/// types.
mlir::LogicalResult verifyBuckets(mlir::ModuleOp module);

} // namespace titan::memory

template <> struct llvm::DenseMapInfo<titan::memory::PersistentKey> {
  using Key = titan::memory::PersistentKey;
  using Info = DenseMapInfo<mlir::StringAttr>;
  static Key getEmptyKey() { return {Info::getEmptyKey(), {}}; }
  static Key getTombstoneKey() { return {Info::getTombstoneKey(), {}}; }
  static unsigned getHashValue(const Key &key) {
    return detail::combineHashValue(Info::getHashValue(key.role), Info::getHashValue(key.name));
  }
  static bool isEqual(const Key &a, const Key &b) { return a == b; }
};

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_MEMORY_BLOCKSTORAGE_H
