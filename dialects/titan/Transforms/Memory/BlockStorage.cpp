// Parameters that are stored block by block.

#include "dialects/titan/Transforms/Memory/BlockStorage.h"

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

bool memory::iteratesSlots(Operation *op) {
  return op && op->hasTrait<Elementwise>() && !op->getParentOfType<FusedOp>();
}

bool memory::hasStridedSlots(AllocRefAttr ref, ArrayRef<AllocationAttr> persistent) {
  if (ref.getSpace() != MemorySpace::Persistent)
    return false;
  AllocationAttr allocation = persistent[ref.getIndex()];
  if (!allocation.getBucket())
    return false;
  auto type = cast<NamedTensorType>(allocation.getType());
  return static_cast<int64_t>(ref.getLevels().size()) <
         type.getShardingOrReplicated().getFlatFrom();
}

/// The leading dimensions of a flat tensor, which index its slots.
static ArrayRef<DimAttr> getSlotDims(NamedTensorType type) {
  return type.getDims().take_front(type.getShardingOrReplicated().getFlatFrom());
}

int64_t memory::countSlots(NamedTensorType type) {
  int64_t slots = 1;
  for (DimAttr dim : getSlotDims(type))
    slots *= dim.getSize();
  return slots;
}

arena::PersistentItem memory::getPersistentItem(AllocationAttr allocation, int64_t bytes) {
  if (!allocation.getBucket())
    return {bytes, "", 1};
  return {bytes, allocation.getBucket().str(),
          countSlots(cast<NamedTensorType>(allocation.getType()))};
}

/// True for a stack whose slots are sharded separately.
static bool isStackOfChunks(NamedTensorType type) {
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  return sharding.isFlat() && sharding.getFlatFrom() > 0 &&
         llvm::all_of(sharding.getDimAxes().take_front(sharding.getFlatFrom()),
                      [](ArrayAttr axes) { return axes.empty(); });
}

bool memory::readsSlots(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return use.getOperandNumber() >= repeat.getNumIterArgs();
  if (isa<dist::AllGatherOp>(op))
    return op->getNumOperands() == 1 && !dist::getStartChannel(op) &&
           dist::isRowwiseCollective(cast<NamedTensorType>(op->getOperand(0).getType()),
                                     cast<NamedTensorType>(op->getResult(0).getType()));
  return isa<dist::LayerOp, func::ReturnOp>(op) || iteratesSlots(op);
}

/// True if all readers of `stack`, and of the slots that repeats scan, read slot by slot.
static bool isReadBySlots(Value stack) {
  return llvm::all_of(stack.getUses(), [](OpOperand &use) {
    auto repeat = dyn_cast<RepeatOp>(use.getOwner());
    if (!readsSlots(use) || !repeat)
      return readsSlots(use);
    for (const RepeatVariant &body : repeat.getVariants())
      for (const RepeatVariant::ScannedInput &scanned : body.getScannedInputs())
        if (scanned.input == use.get() &&
            !getSlotDims(cast<NamedTensorType>(scanned.slot.getType())).empty() &&
            !isReadBySlots(scanned.slot))
          return false;
    return true;
  });
}

/// True if all readers and writers of argument `number` iterate over its slots.
static bool isAccessedBySlots(func::FuncOp function, unsigned number) {
  if (!isReadBySlots(function.getArgument(number)))
    return false;
  Operation *terminator = function.getBody().front().getTerminator();
  return llvm::all_of(terminator->getOpOperands(), [&](OpOperand &returned) {
    auto updates =
        function.getResultAttrOfType<IntegerAttr>(returned.getOperandNumber(), attr::kUpdates);
    if (!updates || updates.getInt() != number)
      return true;
    return iteratesSlots(returned.get().getDefiningOp()) && isReadBySlots(returned.get());
  });
}

/// The name of the program of which `function` is a fragment.
static StringAttr getProgramOfFragment(func::FuncOp function) {
  return StringAttr::get(function.getContext(), dist::getProgramName(function));
}

PersistentKey memory::getPersistentKey(func::FuncOp function, unsigned argument) {
  for (StringRef role : {attr::kParam, attr::kState, attr::kCache, attr::kScalar})
    if (auto name = function.getArgAttrOfType<StringAttr>(argument, role))
      return {StringAttr::get(function.getContext(), role), name,
              function.getArgAttr(argument, attr::kStage)};
  if (!function->hasAttr(dist::kFragmentAttr))
    return {};
  auto getKey = [&](StringRef role, StringAttr name) {
    return PersistentKey{StringAttr::get(function.getContext(), role), name,
                         getProgramOfFragment(function)};
  };
  for (StringRef role : {attr::kStash, attr::kStepValue})
    if (auto name = function.getArgAttrOfType<StringAttr>(argument, role))
      return getKey(role, name);
  // Several fragments read an input, whole or by microbatch.
  bool isSlot = function.getArgAttr(argument, attr::kMicrobatch) != nullptr;
  if (auto name = function.getArgAttrOfType<StringAttr>(argument, attr::kInput))
    return getKey(isSlot ? attr::kMicrobatch : attr::kInput, name);
  return {};
}

PersistentKey memory::getCrossingKey(func::FuncOp function, unsigned result) {
  for (StringRef role : {attr::kStash, attr::kStepValue})
    if (auto name = function.getResultAttrOfType<StringAttr>(result, role))
      return {StringAttr::get(function.getContext(), role), name, getProgramOfFragment(function)};
  return {};
}

/// True for trained parameters and their states.
static bool mayBeInBlock(func::FuncOp function, unsigned argument) {
  return !function.getArgAttr(argument, attr::kBuffer) &&
         (function.getArgAttr(argument, attr::kParam) ||
          function.getArgAttr(argument, attr::kState));
}

/// The segments of `name` up to the innermost repeat: `layers` of `layers.wq`, `m.outer.inner` of
/// `m.outer.inner.wq`.
static StringRef getPrefix(StringRef name, bool isState, const Stack &stack) {
  size_t end = 0;
  int64_t last = stack.segments.empty() ? -1 : stack.segments.back();
  for (int64_t segment = isState ? -1 : 0; segment <= last; ++segment)
    end = std::min(name.find('.', end == 0 ? 0 : end + 1), name.size());
  return name.take_front(end);
}

namespace {

/// The properties that all allocations of a bucket have in common.
struct BucketKey {
  StringRef prefix;
  bool isState;
  ArrayRef<DimAttr> slots;
  Attribute iterations; ///< of the slots
  Type element;
  ArrayAttr axes;
  bool operator==(const BucketKey &other) const {
    return prefix == other.prefix && isState == other.isState && slots == other.slots &&
           iterations == other.iterations && element == other.element && axes == other.axes;
  }
};

} // namespace

BlockStorage::BlockStorage(ModuleOp module) {
  llvm::MapVector<PersistentKey, BucketKey> keys;
  llvm::DenseSet<PersistentKey> contiguous;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(attr::kProgram))
      continue;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (!mayBeInBlock(function, i))
        continue;
      PersistentKey tensor = getPersistentKey(function, i);
      auto type = cast<NamedTensorType>(function.getArgument(i).getType());
      if (!isStackOfChunks(type) || !isAccessedBySlots(function, i)) {
        contiguous.insert(tensor);
        continue;
      }
      dist::ShardingAttr sharding = type.getShardingOrReplicated();
      bool isState = !function.getArgAttr(i, attr::kParam);
      Attribute stacked = function.getArgAttr(i, attr::kStacked);
      keys.insert({tensor,
                   {getPrefix(tensor.name, isState, getStack(stacked, type)), isState,
                    getSlotDims(type), stacked, type.getElementType(), sharding.getFlatAxes()}});
    }
  }
  llvm::StringMap<SmallVector<BucketKey>> byPrefix;
  for (auto &[tensor, key] : keys) {
    if (contiguous.contains(tensor))
      continue;
    SmallVector<BucketKey> &known = byPrefix[key.prefix];
    auto found = llvm::find(known, key);
    size_t number = found - known.begin();
    if (found == known.end())
      known.push_back(key);
    std::string bucket = key.prefix.str() + (number ? ":" + std::to_string(number + 1) : "");
    buckets[tensor] = StringAttr::get(module.getContext(), bucket);
  }
}

LogicalResult memory::verifyBuckets(ModuleOp module) {
  auto allocations = module->getAttrOfType<ArrayAttr>(kPersistent);
  if (!allocations)
    return success();
  DenseMap<StringAttr, AllocationAttr> firsts;
  for (auto allocation : allocations.getAsRange<AllocationAttr>()) {
    if (isOnHost(allocation) && allocation.getMemory() != kHostMemory)
      return module.emitError("allocation ")
             << allocation.getName() << " is on " << allocation.getMemory()
             << ", which is not a memory; the only one is \"host\"";
    if (!allocation.getBucket())
      continue;
    auto type = cast<NamedTensorType>(allocation.getType());
    if (!isStackOfChunks(type))
      return module.emitError("allocation ")
             << allocation.getName() << " is in bucket " << allocation.getBucket()
             << " but is not a stack of flat chunks";
    AllocationAttr first = firsts.try_emplace(allocation.getBucket(), allocation).first->second;
    auto firstType = cast<NamedTensorType>(first.getType());
    if (countSlots(firstType) != countSlots(type) ||
        firstType.getElementType() != type.getElementType() ||
        first.getMemory() != allocation.getMemory())
      return module.emitError("allocations ")
             << first.getName() << " and " << allocation.getName() << " are in bucket "
             << allocation.getBucket() << " but differ in their slots, element types or memory";
  }
  return success();
}
