// Parameters that are stored block by block.
//
// A block is one iteration of a repeat. The bucket of a block is one contiguous range of a rank's
// memory: it contains the rank's shards of all parameters that the repeat stacks. A collective, a
// file or another memory can therefore transfer a block without packing. Optimizer states of these
// parameters have their own buckets.
#pragma once

#include "base/arena/PersistentLayout.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::memory {

/// True if `op` can read and write whole stacks whose slots are not contiguous.
bool iteratesSlots(mlir::Operation *op);

/// True if the operation of `use` reads the slots of a stack one by one, at any stride.
bool readsSlots(mlir::OpOperand &use);

/// True if `ref` covers several slots of an allocation in a bucket of `persistent`. Such slots are
/// not contiguous.
bool hasStridedSlots(ir::AllocRefAttr ref, llvm::ArrayRef<ir::AllocationAttr> persistent);

/// The layout item of a persistent allocation with `bytes` bytes per rank.
arena::PersistentItem getPersistentItem(ir::AllocationAttr allocation, int64_t bytes);

/// The number of slots of a flat tensor: the product of the leading dimensions before its flat
/// storage. Each slot is sharded separately.
int64_t countSlots(ir::NamedTensorType type);

/// Identifies a persistent tensor in all programs of a module by its role (`titan.param`,
/// `titan.state`, `titan.cache`, `titan.scalar`; in fragments also `titan.input`, `titan.stash`,
/// `titan.step_value`), its name and its scope. The scope is the stage (`titan.stage`) of a
/// parameter or state that has one, the program of a tensor that only its fragments share, null for
/// others. The name alone is not unique: a user may call a parameter `lr`, or `m.w` although the
/// first moment of `w` is `m.w`. The name of an empty key is null.
struct PersistentKey {
  mlir::StringAttr role, name;
  mlir::Attribute scope;
  explicit operator bool() const { return bool(name); }
  bool operator==(const PersistentKey &other) const {
    return role == other.role && name == other.name && scope == other.scope;
  }
};

/// The key of a function argument; empty for inputs of programs and arguments without a role.
PersistentKey getPersistentKey(mlir::func::FuncOp function, unsigned argument);

/// The key of a function result that other fragments read; empty for other results.
PersistentKey getCrossingKey(mlir::func::FuncOp function, unsigned result);

/// Decides which parameters and states of a module are stored block by block: stacked, flat tensors
/// all of whose readers and writers can iterate over slots. All other tensors are contiguous.
class BlockStorage {
public:
  explicit BlockStorage(mlir::ModuleOp module);
  /// The bucket of a tensor: `layers` for `layers.wq`, `m.layers` for the state `m.layers.wq`. If
  /// the parameters of a repeat differ in element type or in the axes that shard them, the further
  /// buckets are called `layers:2` and so on. Null for a contiguous tensor.
  mlir::StringAttr getBucket(const PersistentKey &key) const { return buckets.lookup(key); }

private:
  llvm::DenseMap<PersistentKey, mlir::StringAttr> buckets;
};

/// Rejects buckets whose allocations are not flat stacks, or differ in their slots or element
/// types.
mlir::LogicalResult verifyBuckets(mlir::ModuleOp module);

} // namespace titan::memory

template <> struct llvm::DenseMapInfo<titan::memory::PersistentKey> {
  using Key = titan::memory::PersistentKey;
  using Info = DenseMapInfo<mlir::StringAttr>;
  static Key getEmptyKey() { return {Info::getEmptyKey(), {}, {}}; }
  static Key getTombstoneKey() { return {Info::getTombstoneKey(), {}, {}}; }
  static unsigned getHashValue(const Key &key) {
    return hash_combine(key.role, key.name, key.scope);
  }
  static bool isEqual(const Key &a, const Key &b) { return a == b; }
};
