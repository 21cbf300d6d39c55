// Values in a planned arena.
//
// One block of bytes: the transient allocations of the function, packed as the runtime packs them,
// then the persistent allocations. The block starts as NaN. An allocation becomes NaN again after
// its live range. In a stack overlap, a slot becomes NaN when the iteration that produces it
// starts, and when the iteration that consumes it ends. Inline values and values inside fused
// operations have their own tensors.

#include "base/arena/ArenaPlanner.h"
#include "base/arena/PersistentLayout.h"
#include "compiler/interpreter/ElementBytes.h"
#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Memory.h"
#include "compiler/interpreter/OverlappedStacks.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/StackOverlaps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/RegionUtils.h"

#include <cstring>

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::AllocRefAttr;
using ir::getTensorType;
using ir::HostTensor;
using ir::NamedTensorType;

namespace {

/// A byte range of the arena, end excluded.
struct Range {
  int64_t begin, end;
  bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
};

class ArenaMemory : public Memory {
public:
  ArenaMemory(func::FuncOp function, const RankMesh &mesh)
      : function(function), mesh(mesh), liveness(function), overlappedStacks(function) {}
  LogicalResult plan();

  TensorRef read(Value value) const override;
  LogicalResult write(Value value, TensorRef tensor) override;
  LogicalResult loadSlot(BlockArgument argument, Value whole, int64_t slot) override;
  TensorRef readSlot(Value stack, int64_t slot, NamedTensorType type) const override;
  void beginStack(Value stack) override;
  LogicalResult storeSlot(OpResult stack, int64_t slot, Value value) override;
  LogicalResult assign(ValueRange arguments, ValueRange sources) override;
  LogicalResult checkOverlap(Operation *op) const override;
  void begun(ir::RepeatOp repeat) override { poison(liveness.getStart(repeat)); }
  void beginIteration() override { poison(overlappedStacks.getProduced(loops)); }
  void finished(Operation *op) override;
  FailureOr<std::vector<TensorRef>> returnFrom(func::ReturnOp op) override;

private:
  struct Allocation {
    Range range;
    std::string name;
    int64_t last;
    int64_t stride = 0; ///< between slots in a bucket; 0 for a contiguous allocation
  };

  /// Null for values with their own tensors.
  static AllocRefAttr getAllocRef(Value value) {
    AllocRefAttr ref = memory::getAllocRef(value);
    return ref && ref.getSpace() != ir::MemorySpace::Inline ? ref : AllocRefAttr();
  }
  const Allocation &getAllocation(AllocRefAttr ref) const {
    bool persistent = ref.getSpace() == ir::MemorySpace::Persistent;
    return (persistent ? persistents : transients)[ref.getIndex()];
  }
  int64_t getBytes(NamedTensorType type) const {
    return dist::getLocalNumElements(type, mesh.getDegrees()) *
           getElementBytes(type.getElementType());
  }
  /// The distance between two consecutive values of this type.
  int64_t getDistance(const Allocation &allocation, NamedTensorType type) const {
    return allocation.stride ? allocation.stride * memory::countSlots(type) : getBytes(type);
  }
  /// From the first byte to the last; in a bucket, slots of other allocations are in between.
  Range getRange(AllocRefAttr ref, NamedTensorType type) const;
  /// Calls `visit` for each contiguous range of the value, in order.
  template <typename Visit>
  void forEachStretch(AllocRefAttr ref, NamedTensorType type, Visit visit) const;
  LogicalResult store(AllocRefAttr ref, NamedTensorType type, const HostTensor &tensor,
                      Location location);
  TensorRef load(AllocRefAttr ref, NamedTensorType type) const;
  void poison(int64_t event);
  void poison(ArrayRef<OverlappedStacks::Slot> slots);
  void poison(Range range) {
    std::fill(bytes.begin() + range.begin, bytes.begin() + range.end, std::byte{0xFF});
  }

  func::FuncOp function;
  const RankMesh &mesh;
  memory::Liveness liveness;
  OverlappedStacks overlappedStacks;
  std::vector<std::byte> bytes;
  std::vector<Allocation> transients, persistents;
  llvm::DenseMap<Value, TensorRef> values;
};

/// Bytes of an allocation per rank.
int64_t getAllocationBytes(ir::AllocationAttr allocation, const RankMesh &mesh) {
  auto type = cast<NamedTensorType>(allocation.getType());
  int64_t elements = dist::getLocalNumElements(type, mesh.getDegrees());
  if (allocation.getPad())
    elements += dist::getDegreeProduct(allocation.getPad(), mesh.getDegrees());
  return elements * getElementBytes(type.getElementType());
}

} // namespace

LogicalResult ArenaMemory::plan() {
  if (failed(memory::verifyAllocRefs(function, /*isComplete=*/false)))
    return failure();
  std::vector<arena::ArenaItem> items;
  auto planned = function->getAttrOfType<ArrayAttr>(memory::kTransient);
  for (auto allocation : planned.getAsRange<ir::AllocationAttr>())
    items.push_back(
        {getAllocationBytes(allocation, mesh), allocation.getFirst(), allocation.getLast()});
  arena::ArenaPlan plan = arena::planArena(items, memory::getStackOverlaps(function));
  for (auto [i, allocation] : llvm::enumerate(planned.getAsRange<ir::AllocationAttr>()))
    transients.push_back({{plan.offsets[i], plan.offsets[i] + items[i].bytes},
                          allocation.getName().str(),
                          allocation.getLast()});
  auto persistent =
      function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(memory::kPersistent);
  if (!persistent)
    return function.emitError("the module lists no persistent allocations");
  std::vector<arena::PersistentItem> persistentItems;
  for (auto allocation : persistent.getAsRange<ir::AllocationAttr>())
    persistentItems.push_back(
        memory::getPersistentItem(allocation, getAllocationBytes(allocation, mesh)));
  arena::PersistentLayout persistentLayout = arena::makePersistentLayout(persistentItems);
  const int64_t begin = arena::alignTo(plan.bytes, arena::kArenaAlignment);
  for (auto [i, allocation] : llvm::enumerate(persistent.getAsRange<ir::AllocationAttr>())) {
    auto [size, bucket, slots] = persistentItems[i];
    int64_t first = begin + persistentLayout.offsets[i], stride = persistentLayout.strides[i];
    int64_t last = bucket.empty() ? first : first + (slots - 1) * stride;
    persistents.push_back({{first, last + size / slots}, allocation.getName().str(), -1, stride});
  }
  bytes.assign(begin + persistentLayout.bytes, std::byte{0xFF});
  return success();
}

/// Slots are row-major in the indices of the enclosing repeats.
Range ArenaMemory::getRange(AllocRefAttr ref, NamedTensorType type) const {
  const Allocation &allocation = getAllocation(ref);
  int64_t begin = allocation.range.begin, stride = getDistance(allocation, type);
  int64_t slots = allocation.stride ? memory::countSlots(type) : 1;
  int64_t length = (slots - 1) * allocation.stride + getBytes(type) / slots;
  size_t depth = ref.getLevels().size();
  for (int64_t level : llvm::reverse(ref.getLevels())) {
    ir::RepeatOp repeat = loops[level].repeat;
    ArrayRef<int64_t> users = ref.getLevelUsers(--depth);
    int64_t index = loops[level].index;
    begin += (users.empty() ? index : repeat.getIterations().getSlots(users)[index]) * stride;
    stride *= users.empty() ? repeat.getDim().getSize() : repeat.getIterations().getCount(users);
  }
  return {begin, begin + length};
}

template <typename Visit>
void ArenaMemory::forEachStretch(AllocRefAttr ref, NamedTensorType type, Visit visit) const {
  const Allocation &allocation = getAllocation(ref);
  const int64_t begin = getRange(ref, type).begin;
  const int64_t slots = allocation.stride ? memory::countSlots(type) : 1;
  for (int64_t slot = 0; slot < slots; ++slot)
    visit(begin + slot * allocation.stride, getBytes(type) / slots);
}

LogicalResult ArenaMemory::store(AllocRefAttr ref, NamedTensorType type, const HostTensor &tensor,
                                 Location location) {
  Range range = getRange(ref, type);
  if (range.end > getAllocation(ref).range.end)
    return emitError(location, "a value of ")
           << type << " does not fit into allocation \"" << getAllocation(ref).name << '"';
  std::vector<std::byte> packed(getBytes(type));
  storeElements(type.getElementType(), tensor.data, packed.data());
  const std::byte *from = packed.data();
  forEachStretch(ref, type, [&](int64_t begin, int64_t length) {
    std::memcpy(bytes.data() + begin, from, length);
    from += length;
  });
  return success();
}

TensorRef ArenaMemory::load(AllocRefAttr ref, NamedTensorType type) const {
  auto tensor = std::make_shared<HostTensor>(makePoisoned(type, mesh));
  std::vector<std::byte> packed;
  forEachStretch(ref, type, [&](int64_t begin, int64_t length) {
    packed.insert(packed.end(), bytes.begin() + begin, bytes.begin() + begin + length);
  });
  loadElements(type.getElementType(), packed.data(), tensor->data);
  return tensor;
}

TensorRef ArenaMemory::read(Value value) const {
  AllocRefAttr ref = getAllocRef(value);
  return ref ? load(ref, getTensorType(value)) : values.lookup(value);
}

LogicalResult ArenaMemory::write(Value value, TensorRef tensor) {
  if (AllocRefAttr ref = getAllocRef(value))
    return store(ref, getTensorType(value), *tensor, value.getLoc());
  values[value] = std::move(tensor);
  return success();
}

/// Copies nothing: the plan must give the argument the memory of that slot.
LogicalResult ArenaMemory::loadSlot(BlockArgument argument, Value whole, int64_t slot) {
  AllocRefAttr wholeRef = getAllocRef(whole), ref = getAllocRef(argument);
  Range range = ref ? getRange(ref, getTensorType(argument)) : Range{0, 0};
  int64_t begin = wholeRef ? getRange(wholeRef, getTensorType(whole)).begin : -1;
  if (!ref ||
      range.begin != begin + slot * getDistance(getAllocation(ref), getTensorType(argument)))
    return emitError(argument.getLoc(), "the slice is not a slot of its stack");
  return success();
}

TensorRef ArenaMemory::readSlot(Value stack, int64_t slot, NamedTensorType type) const {
  auto tensor = std::make_shared<HostTensor>(makePoisoned(type, mesh));
  AllocRefAttr ref = getAllocRef(stack);
  int64_t begin =
      getRange(ref, getTensorType(stack)).begin + slot * getDistance(getAllocation(ref), type);
  loadElements(type.getElementType(), bytes.data() + begin, tensor->data);
  return tensor;
}

/// A stack in the allocation of a scanned input replaces it slot by slot.
static bool replacesInput(Value stack) {
  auto repeat = stack.getDefiningOp<ir::RepeatOp>();
  return repeat && llvm::any_of(repeat.getScannedInputs(), [&](Value input) {
           return memory::getAllocRef(input) == memory::getAllocRef(stack);
         });
}

void ArenaMemory::beginStack(Value stack) {
  AllocRefAttr ref = getAllocRef(stack);
  bool isTransient = ref && ref.getSpace() == ir::MemorySpace::Transient;
  if (ref && !replacesInput(stack) &&
      !(isTransient && overlappedStacks.getProducer(ref.getIndex()) == stack.getDefiningOp()))
    poison(getRange(ref, getTensorType(stack)));
}

void ArenaMemory::finished(Operation *op) {
  if (isa<ir::YieldOp>(op) && !loops.empty())
    poison(overlappedStacks.getConsumed(loops));
  poison(liveness.getEnd(op));
}

void ArenaMemory::poison(int64_t event) {
  for (auto [i, allocation] : llvm::enumerate(transients)) {
    Operation *consumer = overlappedStacks.getConsumer(static_cast<int64_t>(i));
    if (allocation.last == event && !(consumer && liveness.getEnd(consumer) == event))
      poison(allocation.range);
  }
}

void ArenaMemory::poison(ArrayRef<OverlappedStacks::Slot> slots) {
  for (auto [ref, type] : slots)
    poison(getRange(ref, type));
}

LogicalResult ArenaMemory::storeSlot(OpResult stack, int64_t, Value value) {
  AllocRefAttr ref = getAllocRef(stack);
  if (!ref)
    return emitError(stack.getLoc(), "a stack has no allocation");
  ir::RepeatOp repeat = loops.back().repeat;
  unsigned number = stack.getResultNumber() - repeat.getNumIterArgs();
  AllocRefAttr slot = ref.getSlot(loops.size() - 1, repeat, repeat.getStackedUsers(number));
  return store(slot, getTensorType(value), *read(value), value.getLoc());
}

/// In sequence, like the emitted program.
LogicalResult ArenaMemory::assign(ValueRange arguments, ValueRange sources) {
  for (auto [argument, value] : llvm::zip_equal(arguments, sources))
    if (failed(write(argument, read(value))))
      return failure();
  return success();
}

/// True if element i of the result depends only on element i of the operands, or nothing moves.
/// Fused regions work row by row; the planner is responsible for the order within a row.
static bool worksInPlace(Operation *op) {
  return ir::isInPlace(op) || ir::isView(op) || isa<ir::FusedOp, dist::WaitOp>(op);
}

/// A coalesced collective may overwrite only the operand of the same index.
static bool mayOverwrite(Operation *op, size_t result, size_t operand) {
  if (Value accumulator = ir::getAccumulator(op))
    return op->getOperand(operand) == accumulator;
  return worksInPlace(op) && (!isa<dist::DistDialect>(op->getDialect()) || result == operand);
}

LogicalResult ArenaMemory::checkOverlap(Operation *op) const {
  SmallVector<Value> readValues(op->getOperands());
  if (op->getNumRegions() > 0) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(readValues, captured);
  }
  for (OpResult result : op->getResults())
    for (auto [i, operand] : llvm::enumerate(readValues)) {
      AllocRefAttr to = getAllocRef(result), from = getAllocRef(operand);
      if (!to || !from)
        continue;
      if (to.getSpace() == ir::MemorySpace::Persistent && from.getSpace() == to.getSpace() &&
          to.getIndex() != from.getIndex())
        continue; // slots of a bucket are interleaved
      Range written = getRange(to, getTensorType(result)),
            readRange = getRange(from, getTensorType(operand));
      bool same = written.begin == readRange.begin && written.end == readRange.end;
      if (written.overlaps(readRange) && !(same && mayOverwrite(op, result.getResultNumber(), i)))
        return op->emitOpError("overwrites what it reads: its result is in allocation \"")
               << getAllocation(to).name << "\", an operand in \"" << getAllocation(from).name
               << '"';
    }
  return success();
}

FailureOr<std::vector<TensorRef>> ArenaMemory::returnFrom(func::ReturnOp op) {
  auto refs = op->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs);
  if (!refs || refs.size() != op->getNumOperands())
    return op.emitError("the results have no allocations");
  for (auto [value, ref] : llvm::zip_equal(op.getOperands(), refs.getAsRange<AllocRefAttr>()))
    if (failed(store(ref, getTensorType(value), *read(value), op.getLoc())))
      return failure();
  std::vector<TensorRef> results;
  for (auto [value, ref] : llvm::zip_equal(op.getOperands(), refs.getAsRange<AllocRefAttr>()))
    results.push_back(load(ref, getTensorType(value)));
  return results;
}

bool interpreter::isPlanned(func::FuncOp function) {
  return function->hasAttr(memory::kTransient);
}

FailureOr<std::unique_ptr<Memory>> interpreter::makeArenaMemory(func::FuncOp function,
                                                                const RankMesh &mesh) {
  auto memory = std::make_unique<ArenaMemory>(function, mesh);
  if (failed(memory->plan()))
    return failure();
  return std::unique_ptr<Memory>(std::move(memory));
}
