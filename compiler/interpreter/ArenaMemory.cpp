//===- ArenaMemory.cpp - Values in the buffers of the memory phase --------===//
//
// One block of bytes: the function's transient buffers, packed by their lifetimes as the runtime
// packs them, and behind them the persistent ones. It starts as NaN, and a buffer becomes NaN again
// after the last event of its lifetime; of stacks that a repeat hands over, a slot is NaN when the
// iteration that writes it begins, or when the one that reads it is over. Values without a place
// (inline ones and those inside of fused operations) have room of their own.
//
//===----------------------------------------------------------------------===//

#include "base/arena/ArenaPlanner.h"
#include "base/arena/KeptPlan.h"
#include "compiler/interpreter/ElementBytes.h"
#include "compiler/interpreter/HandedOver.h"
#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Memory.h"
#include "dialects/titan/IR/TypeOf.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/Handovers.h"
#include "dialects/titan/Transforms/Memory/Liveness.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/RegionUtils.h"

#include <cstring>

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;
using ir::PlaceAttr;
using ir::typeOf;

namespace {

/// Bytes of the arena, end excluded.
struct Range {
  int64_t begin, end;
  bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
};

class ArenaMemory : public Memory {
public:
  ArenaMemory(func::FuncOp function, const RankMesh &mesh)
      : function(function), mesh(mesh), liveness(function), handedOver(function) {}
  LogicalResult plan();

  TensorRef read(Value value) const override;
  LogicalResult write(Value value, TensorRef tensor) override;
  LogicalResult slice(BlockArgument argument, Value whole, int64_t slot) override;
  TensorRef layer(Value stack, int64_t slot, NamedTensorType type) const override;
  void beginStack(Value stack) override;
  LogicalResult stack(OpResult stack, int64_t slot, Value value) override;
  LogicalResult carry(ValueRange arguments, ValueRange carried) override;
  LogicalResult checkOverlap(Operation *op) const override;
  void begun(ir::RepeatOp repeat) override { poison(liveness.getStart(repeat)); }
  void beginIteration() override { poison(handedOver.getFilled(loops)); }
  void finished(Operation *op) override;
  FailureOr<std::vector<TensorRef>> returnFrom(func::ReturnOp op) override;

private:
  struct Buffer {
    Range range;
    std::string name;
    int64_t last;
    int64_t stride = 0; ///< from slot to slot in its bucket; 0 for what lies in one piece
  };

  /// Null for values that have room of their own.
  static PlaceAttr getPlace(Value value) {
    PlaceAttr place = memory::getPlace(value);
    return place && place.getSpace() != ir::MemorySpace::Inline ? place : PlaceAttr();
  }
  const Buffer &getBuffer(PlaceAttr place) const {
    bool persistent = place.getSpace() == ir::MemorySpace::Persistent;
    return (persistent ? persistents : transients)[place.getBuffer()];
  }
  int64_t getBytes(NamedTensorType type) const {
    return dist::getLocalNumElements(type, mesh.getDegrees()) *
           getElementBytes(type.getElementType());
  }
  /// From the beginning of a value of this type to that of the one in the next slot.
  int64_t getDistance(const Buffer &buffer, NamedTensorType type) const {
    return buffer.stride ? buffer.stride * memory::countSlots(type) : getBytes(type);
  }
  /// From the first byte to the last one; between the slots of a bucket lie those of others.
  Range getRange(PlaceAttr place, NamedTensorType type) const;
  /// Calls `visit` with each stretch of the value, in order.
  template <typename Visit>
  void forEachStretch(PlaceAttr place, NamedTensorType type, Visit visit) const;
  LogicalResult store(PlaceAttr place, NamedTensorType type, const HostTensor &tensor,
                      Location location);
  TensorRef load(PlaceAttr place, NamedTensorType type) const;
  void poison(int64_t event);
  void poison(ArrayRef<HandedOver::Slot> slots);
  void poison(Range range) {
    std::fill(bytes.begin() + range.begin, bytes.begin() + range.end, std::byte{0xFF});
  }

  func::FuncOp function;
  const RankMesh &mesh;
  memory::Liveness liveness;
  HandedOver handedOver;
  std::vector<std::byte> bytes;
  std::vector<Buffer> transients, persistents;
  llvm::DenseMap<Value, TensorRef> values;
};

/// Bytes of a buffer on every rank.
int64_t getBufferBytes(ir::BufferAttr buffer, const RankMesh &mesh) {
  auto type = cast<NamedTensorType>(buffer.getType());
  int64_t elements = dist::getLocalNumElements(type, mesh.getDegrees());
  if (buffer.getPad())
    elements += dist::getDegreeProduct(buffer.getPad(), mesh.getDegrees());
  return elements * getElementBytes(type.getElementType());
}

} // namespace

LogicalResult ArenaMemory::plan() {
  if (failed(memory::verifyPlaces(function, /*isWhole=*/false)))
    return failure();
  std::vector<arena::ArenaItem> items;
  auto planned = function->getAttrOfType<ArrayAttr>(memory::kBuffers);
  for (auto buffer : planned.getAsRange<ir::BufferAttr>())
    items.push_back({getBufferBytes(buffer, mesh), buffer.getFirst(), buffer.getLast()});
  arena::ArenaPlan plan = arena::planArena(items, memory::getHandovers(function));
  for (auto [i, buffer] : llvm::enumerate(planned.getAsRange<ir::BufferAttr>()))
    transients.push_back({{plan.offsets[i], plan.offsets[i] + items[i].bytes},
                          buffer.getName().str(),
                          buffer.getLast()});
  auto kept = function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(memory::kPersistent);
  if (!kept)
    return function.emitError("the module lists no persistent buffers");
  std::vector<arena::KeptItem> keptItems;
  for (auto buffer : kept.getAsRange<ir::BufferAttr>())
    keptItems.push_back(memory::getKeptItem(buffer, getBufferBytes(buffer, mesh)));
  arena::KeptPlan keptPlan = arena::planKept(keptItems);
  const int64_t begin = arena::alignTo(plan.bytes, arena::kArenaAlignment);
  for (auto [i, buffer] : llvm::enumerate(kept.getAsRange<ir::BufferAttr>())) {
    auto [size, bucket, slots] = keptItems[i];
    int64_t first = begin + keptPlan.offsets[i], stride = keptPlan.strides[i];
    int64_t last = bucket.empty() ? first : first + (slots - 1) * stride;
    persistents.push_back({{first, last + size / slots}, buffer.getName().str(), -1, stride});
  }
  bytes.assign(begin + keptPlan.bytes, std::byte{0xFF});
  return success();
}

/// Slots are row-major in the enclosing repeats' indices.
Range ArenaMemory::getRange(PlaceAttr place, NamedTensorType type) const {
  const Buffer &buffer = getBuffer(place);
  int64_t begin = buffer.range.begin, stride = getDistance(buffer, type);
  int64_t slots = buffer.stride ? memory::countSlots(type) : 1;
  int64_t length = (slots - 1) * buffer.stride + getBytes(type) / slots;
  size_t depth = place.getLevels().size();
  for (int64_t level : llvm::reverse(place.getLevels())) {
    ir::RepeatOp repeat = loops[level].repeat;
    ArrayRef<int64_t> users = place.getLevelUsers(--depth);
    int64_t index = loops[level].index;
    begin += (users.empty() ? index : repeat.getIterations().getSlots(users)[index]) * stride;
    stride *= users.empty() ? repeat.getDim().getSize() : repeat.getIterations().getCount(users);
  }
  return {begin, begin + length};
}

template <typename Visit>
void ArenaMemory::forEachStretch(PlaceAttr place, NamedTensorType type, Visit visit) const {
  const Buffer &buffer = getBuffer(place);
  const int64_t begin = getRange(place, type).begin;
  const int64_t slots = buffer.stride ? memory::countSlots(type) : 1;
  for (int64_t slot = 0; slot < slots; ++slot)
    visit(begin + slot * buffer.stride, getBytes(type) / slots);
}

LogicalResult ArenaMemory::store(PlaceAttr place, NamedTensorType type, const HostTensor &tensor,
                                 Location location) {
  Range range = getRange(place, type);
  if (range.end > getBuffer(place).range.end)
    return emitError(location, "a value of ")
           << type << " does not fit into buffer \"" << getBuffer(place).name << '"';
  std::vector<std::byte> packed(getBytes(type));
  storeElements(type.getElementType(), tensor.data, packed.data());
  const std::byte *from = packed.data();
  forEachStretch(place, type, [&](int64_t begin, int64_t length) {
    std::memcpy(bytes.data() + begin, from, length);
    from += length;
  });
  return success();
}

TensorRef ArenaMemory::load(PlaceAttr place, NamedTensorType type) const {
  auto tensor = std::make_shared<HostTensor>(makePoisoned(type, mesh));
  std::vector<std::byte> packed;
  forEachStretch(place, type, [&](int64_t begin, int64_t length) {
    packed.insert(packed.end(), bytes.begin() + begin, bytes.begin() + begin + length);
  });
  loadElements(type.getElementType(), packed.data(), tensor->data);
  return tensor;
}

TensorRef ArenaMemory::read(Value value) const {
  PlaceAttr place = getPlace(value);
  return place ? load(place, typeOf(value)) : values.lookup(value);
}

LogicalResult ArenaMemory::write(Value value, TensorRef tensor) {
  if (PlaceAttr place = getPlace(value))
    return store(place, typeOf(value), *tensor, value.getLoc());
  values[value] = std::move(tensor);
  return success();
}

/// Nothing is copied: the plan must say that the argument is that part of the whole.
LogicalResult ArenaMemory::slice(BlockArgument argument, Value whole, int64_t slot) {
  PlaceAttr wholePlace = getPlace(whole), place = getPlace(argument);
  Range range = place ? getRange(place, typeOf(argument)) : Range{0, 0};
  int64_t begin = wholePlace ? getRange(wholePlace, typeOf(whole)).begin : -1;
  if (!place || range.begin != begin + slot * getDistance(getBuffer(place), typeOf(argument)))
    return emitError(argument.getLoc(), "the slice does not lie in what it is a slice of");
  return success();
}

TensorRef ArenaMemory::layer(Value stack, int64_t slot, NamedTensorType type) const {
  auto tensor = std::make_shared<HostTensor>(makePoisoned(type, mesh));
  PlaceAttr place = getPlace(stack);
  int64_t begin = getRange(place, typeOf(stack)).begin + slot * getDistance(getBuffer(place), type);
  loadElements(type.getElementType(), bytes.data() + begin, tensor->data);
  return tensor;
}

void ArenaMemory::beginStack(Value stack) {
  PlaceAttr place = getPlace(stack);
  bool isTransient = place && place.getSpace() == ir::MemorySpace::Transient;
  if (place && !(isTransient && handedOver.getFiller(place.getBuffer()) == stack.getDefiningOp()))
    poison(getRange(place, typeOf(stack)));
}

void ArenaMemory::finished(Operation *op) {
  if (isa<ir::YieldOp>(op) && !loops.empty())
    poison(handedOver.getEmptied(loops));
  poison(liveness.getEnd(op));
}

void ArenaMemory::poison(int64_t event) {
  for (auto [i, buffer] : llvm::enumerate(transients)) {
    Operation *emptier = handedOver.getEmptier(static_cast<int64_t>(i));
    if (buffer.last == event && !(emptier && liveness.getEnd(emptier) == event))
      poison(buffer.range);
  }
}

void ArenaMemory::poison(ArrayRef<HandedOver::Slot> slots) {
  for (auto [place, type] : slots)
    poison(getRange(place, type));
}

LogicalResult ArenaMemory::stack(OpResult stack, int64_t, Value value) {
  PlaceAttr place = getPlace(stack);
  if (!place)
    return emitError(stack.getLoc(), "a stack has no place");
  ir::RepeatOp repeat = loops.back().repeat;
  unsigned number = stack.getResultNumber() - repeat.getNumCarried();
  PlaceAttr slot = place.getSlot(loops.size() - 1, repeat, repeat.getStackUsers(number));
  return store(slot, typeOf(value), *read(value), value.getLoc());
}

/// One value after the other, as the emitted program copies them.
LogicalResult ArenaMemory::carry(ValueRange arguments, ValueRange carried) {
  for (auto [argument, value] : llvm::zip_equal(arguments, carried))
    if (failed(write(argument, read(value))))
      return failure();
  return success();
}

/// Element i of the result depends on element i of the operands alone, or nothing moves at all. A
/// fused region reads and writes row by row; in which order within a row is the planner's concern.
static bool worksInPlace(Operation *op) {
  return op->hasTrait<ir::Elementwise>() || ir::isView(op) ||
         isa<ir::FusedOp, ir::RotaryOp, dist::AllReduceOp, dist::MakePartialOp, dist::WaitOp>(op);
}

/// Where several values are exchanged at once, each may only take the place of its own operand.
static bool mayShare(Operation *op, size_t result, size_t operand) {
  if (Value joined = ir::getJoined(op))
    return op->getOperand(operand) == joined;
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
      PlaceAttr to = getPlace(result), from = getPlace(operand);
      if (!to || !from)
        continue;
      if (to.getSpace() == ir::MemorySpace::Persistent && from.getSpace() == to.getSpace() &&
          to.getBuffer() != from.getBuffer())
        continue; // in one bucket they lie between one another
      Range written = getRange(to, typeOf(result)), kept = getRange(from, typeOf(operand));
      bool same = written.begin == kept.begin && written.end == kept.end;
      if (written.overlaps(kept) && !(same && mayShare(op, result.getResultNumber(), i)))
        return op->emitOpError("overwrites what it reads: its result lies in buffer \"")
               << getBuffer(to).name << "\", an operand in \"" << getBuffer(from).name << '"';
    }
  return success();
}

FailureOr<std::vector<TensorRef>> ArenaMemory::returnFrom(func::ReturnOp op) {
  auto places = op->getAttrOfType<ArrayAttr>(memory::kArguments);
  if (!places || places.size() != op->getNumOperands())
    return op.emitError("the results have no places");
  for (auto [value, place] : llvm::zip_equal(op.getOperands(), places.getAsRange<PlaceAttr>()))
    if (failed(store(place, typeOf(value), *read(value), op.getLoc())))
      return failure();
  std::vector<TensorRef> results;
  for (auto [value, place] : llvm::zip_equal(op.getOperands(), places.getAsRange<PlaceAttr>()))
    results.push_back(load(place, typeOf(value)));
  return results;
}

bool interpreter::isPlanned(func::FuncOp function) {
  return function->hasAttr(memory::kBuffers);
}

FailureOr<std::unique_ptr<Memory>> interpreter::makeArenaMemory(func::FuncOp function,
                                                                const RankMesh &mesh) {
  auto memory = std::make_unique<ArenaMemory>(function, mesh);
  if (failed(memory->plan()))
    return failure();
  return std::unique_ptr<Memory>(std::move(memory));
}
