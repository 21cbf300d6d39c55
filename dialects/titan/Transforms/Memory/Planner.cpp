//===- Planner.cpp - Gives the values of a function their buffers ---------===//

#include "dialects/titan/Transforms/Memory/Planner.h"

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Transforms/Fusion/RowSchedule.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

std::string memory::getSourceName(Value value) {
  // What comes out of a region is called what it is called inside.
  auto result = dyn_cast<OpResult>(value);
  if (result) {
    if (auto fused = dyn_cast<FusedOp>(result.getOwner()))
      return getSourceName(fused.getYield().getValues()[result.getResultNumber()]);
    if (auto repeat = dyn_cast<RepeatOp>(result.getOwner()))
      return getSourceName(repeat.getYielded(result.getResultNumber()).front());
  }
  Location location = result ? dist::getValueLocation(result) : value.getLoc();
  if (auto named = location->findInstanceOf<NameLoc>(); named && !named.getName().empty())
    return named.getName().str();
  if (Operation *op = value.getDefiningOp())
    return op->getName().stripDialect().str();
  auto argument = cast<BlockArgument>(value);
  if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
    for (StringRef role : {attr::kParam, attr::kState, attr::kInput, attr::kScalar})
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), role))
        return name.str();
  return "argument";
}

Planner::Planner(func::FuncOp function, PersistentTable &persistent)
    : function(function), persistent(persistent), liveness(function),
      context(function.getContext()), current(&function.getBody()) {}

LogicalResult Planner::run() {
  if (failed(placeArguments()) || failed(wishResults()) ||
      failed(planBlock(function.getBody().front())))
    return failure();
  writeAttributes();
  return success();
}

PlaceAttr Planner::getInlinePlace() {
  return PlaceAttr::get(context, MemorySpace::Inline, 0);
}

PlaceAttr Planner::getPersistentPlace(int64_t index) {
  return PlaceAttr::get(context, MemorySpace::Persistent, index);
}

Planner::Buffer &Planner::getBuffer(PlaceAttr place) {
  return place.getSpace() == MemorySpace::Persistent ? persistentUse[place.getBuffer()]
                                                     : buffers[place.getBuffer()];
}

int64_t Planner::getBusyUntil(PlaceAttr place) {
  int64_t last = -1;
  // What another variant's body reads is not there while this one runs.
  for (Value value : getBuffer(place).values)
    if (value.getParentRegion()->isAncestor(current))
      last = std::max(last, liveness.getLastUse(value));
  return last;
}

void Planner::put(Value value, PlaceAttr place) {
  places[value] = place;
  if (place.getSpace() == MemorySpace::Inline)
    return;
  Buffer &buffer = getBuffer(place);
  buffer.values.push_back(value);
  buffer.first = std::min(buffer.first, liveness.getDefinition(value));
  buffer.last = std::max(buffer.last, liveness.getLastUse(value));
}

PlaceAttr Planner::makeBuffer(std::string name, NamedTensorType type, int64_t first, int64_t last) {
  buffers.push_back({std::move(name), type, first, last, nullptr, {}});
  return PlaceAttr::get(context, MemorySpace::Transient, buffers.size() - 1);
}

PlaceAttr Planner::makeBuffer(Value value, int64_t first, int64_t last) {
  return makeBuffer(getSourceName(value), cast<NamedTensorType>(value.getType()), first, last);
}

/// The value in flight that `value` is waited for as; null for others, and where room for padding
/// may be needed, which only a buffer of its own has.
static Value getFlight(Value value) {
  auto wait = value.getDefiningOp<dist::WaitOp>();
  if (!wait)
    return nullptr;
  Value flight = wait.getFlights()[cast<OpResult>(value).getResultNumber()];
  return flight.getDefiningOp() && !flight.getDefiningOp<dist::AllGatherOp>() ? flight : nullptr;
}

void Planner::wish(Value value, PlaceAttr place, bool whenFree) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    value = op->getOperand(0);
  }
  if (isa<OpResult>(value) && !isInline(value))
    wishes.try_emplace(value, Wish{place, whenFree});
  if (Value flight = getFlight(value))
    wish(flight, place, whenFree);
}

LogicalResult Planner::planBlock(Block &block) {
  llvm::SaveAndRestore inside(current, block.getParent());
  for (Operation &op : block.without_terminator()) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      if (failed(planRepeat(repeat)))
        return failure();
    } else {
      planOp(&op);
    }
  }
  return success();
}

void Planner::planOp(Operation *op) {
  for (OpResult result : op->getResults())
    put(result, choosePlace(result));
  planScratch(op);
}

PlaceAttr Planner::choosePlace(OpResult result) {
  Operation *op = result.getOwner();
  if (isInline(result) || isa<dist::LayerOp>(op))
    return getInlinePlace();
  if (isView(op))
    return places.lookup(op->getOperand(0));
  PlaceAttr dying = findDyingOperand(result);
  int64_t now = liveness.getStart(op);
  if (auto wished = wishes.find(result); wished != wishes.end()) {
    PlaceAttr place = wished->second.place;
    if (!wished->second.whenFree || getBusyUntil(place) < now || place == dying)
      return place;
  }
  return dying && dying.getSpace() == MemorySpace::Transient ? dying : makeBuffer(result, now, now);
}

/// True where element i of a result depends on element i of that operand alone (and on operands
/// that are not written), so that the one may be written over the other.
static bool worksInPlace(Operation *op) {
  // Where a repeat carries what is in flight, the next one lands while this one is used.
  if (auto wait = dyn_cast<dist::WaitOp>(op))
    return llvm::none_of(wait.getFlights(), llvm::IsaPred<BlockArgument>);
  return op->hasTrait<Elementwise>() || isa<RotaryOp, dist::AllReduceOp, dist::MakePartialOp>(op);
}

static bool liesAlike(NamedTensorType a, NamedTensorType b) {
  auto withoutPartial = [](NamedTensorType type) {
    return type.withSharding(type.getShardingOrReplicated().withoutPartial());
  };
  return withoutPartial(a) == withoutPartial(b);
}

/// In a fused region: `operand` is read element by element, by no loop that comes after the one
/// that writes the result.
static bool mayOverwrite(FusedOp fused, Value operand, unsigned result) {
  Operation *writer = fused.getYield().getValues()[result].getDefiningOp();
  SmallVector<std::string> rows = fusion::getRows(fused);
  fusion::RowSchedule schedule = fusion::scheduleRows(fusion::getScheduledOps(fused), rows);
  auto it = writer ? schedule.innerOf.find(writer) : schedule.innerOf.end();
  if (it == schedule.innerOf.end() ||
      (isa<ReduceOp>(writer) && cast<NamedTensorType>(writer->getResult(0).getType()).getRank() >
                                    static_cast<int64_t>(rows.size())))
    return false;
  auto dims = cast<NamedTensorType>(operand.getType()).getDims();
  // What has no dimension below the row is read before anything is written.
  if (llvm::all_of(dims, [&](DimAttr dim) { return llvm::is_contained(rows, dim.getName()); }))
    return true;
  return llvm::all_of(operand.getUsers(), [&](Operation *user) {
    return user->getParentOp() != fused ||
           ((user->hasTrait<Elementwise>() || isa<ReduceOp>(user)) &&
            cast<NamedTensorType>(fusion::getWalked(user).getType()).getDims() == dims &&
            schedule.innerOf[user] <= it->second);
  });
}

/// What an operation reads, also inside of its region.
static SmallVector<Value> getRead(Operation *op) {
  SmallVector<Value> read(op->getOperands());
  if (auto fused = dyn_cast<FusedOp>(op))
    for (Operation &inner : fused.getBody().front())
      for (Value operand : inner.getOperands())
        if (operand.getParentBlock() != &fused.getBody().front())
          read.push_back(operand);
  return read;
}

PlaceAttr Planner::findDyingOperand(OpResult result) {
  Operation *op = result.getOwner();
  auto fused = dyn_cast<FusedOp>(op);
  if (!fused && !worksInPlace(op))
    return nullptr;
  // A place is free if whatever is read from it, by whatever name, may be overwritten.
  auto fits = [&](Value operand) {
    return liesAlike(cast<NamedTensorType>(operand.getType()),
                     cast<NamedTensorType>(result.getType())) &&
           (!fused || mayOverwrite(fused, operand, result.getResultNumber()));
  };
  SmallVector<Value> read = getRead(op), candidates = read;
  // Of several values that are exchanged at once, each may only take the place of its own operand.
  if (isa<dist::DistDialect>(op->getDialect()))
    candidates = {op->getOperand(result.getResultNumber())};
  auto isFree = [&](PlaceAttr place) {
    return place.getLevels().empty() && getBusyUntil(place) <= liveness.getStart(op) &&
           llvm::all_of(read, [&](Value operand) {
             return places.lookup(operand) != place || fits(operand);
           });
  };
  PlaceAttr wished = wishes.count(result) ? wishes[result].place : nullptr;
  PlaceAttr found;
  for (Value operand : candidates) {
    PlaceAttr place = places.lookup(operand);
    // An operand that lies where the result is wanted is best; persistent ones only then.
    bool isWanted = place == wished, isTransient = place.getSpace() == MemorySpace::Transient;
    if ((isWanted || (isTransient && !found)) && isFree(place)) {
      found = place;
      if (isWanted)
        break;
    }
  }
  return found;
}

void Planner::planScratch(Operation *op) {
  auto needs = dyn_cast<ScratchOpInterface>(op);
  if (!needs)
    return planPadding(op);
  int64_t bytes = needs.getScratchBytes(
      dist::getDegrees(dist::MeshOp::lookup(function->getParentOfType<ModuleOp>())));
  Builder builder(context);
  int64_t elements = llvm::divideCeil(bytes, 8);
  auto size = DimAttr::get(context, builder.getStringAttr("scratch"), elements);
  auto type = NamedTensorType::get(builder.getF64Type(), size);
  int64_t now = liveness.getStart(op);
  buffers.push_back({op->getName().stripDialect().str() + "_scratch", type, now, now, nullptr, {}});
  buffers.back().per = builder.getStringAttr("thread");
  auto place = PlaceAttr::get(context, MemorySpace::Transient, buffers.size() - 1);
  op->setAttr(kScratch, ArrayAttr::get(context, {place}));
}

/// Flat storage is padded to a multiple of the degree, so whole values need room for the padding:
/// behind the value where its buffer can have it, else in a buffer for as long as the exchange lasts.
void Planner::planPadding(Operation *op) {
  bool gathers = isa<dist::AllGatherOp>(op);
  if (!gathers && !isa<dist::ReduceScatterOp>(op))
    return;
  SmallVector<Attribute> scratch;
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    Value whole = gathers ? Value(result) : operand, flat = gathers ? operand : Value(result);
    auto getSharding = [](Value value) {
      return cast<NamedTensorType>(value.getType()).getShardingOrReplicated();
    };
    ArrayAttr axes = getSharding(flat).getFlatAxes();
    scratch.push_back(getInlinePlace());
    if (axes.empty() || axes == getSharding(whole).getFlatAxes() ||
        (getSharding(flat).getFlatFrom() == 0 && pad(places.lookup(whole), axes)))
      continue;
    int64_t now = liveness.getStart(op);
    int64_t last = dist::getStartChannel(op) ? liveness.getLastUse(result) : now;
    PlaceAttr place = makeBuffer(whole, now, last);
    pad(place, axes);
    scratch.back() = place;
  }
  if (llvm::any_of(scratch, [&](Attribute place) { return place != getInlinePlace(); }))
    op->setAttr(kScratch, ArrayAttr::get(context, scratch));
}

bool Planner::pad(PlaceAttr place, ArrayAttr axes) {
  if (place.getSpace() != MemorySpace::Transient || !place.getLevels().empty())
    return false;
  Buffer &buffer = getBuffer(place);
  if (buffer.pad && buffer.pad != axes)
    return false;
  buffer.pad = axes;
  return true;
}

void Planner::writeAttributes() {
  function.walk([&](Operation *op) {
    if (op->getParentOfType<FusedOp>() || op == function)
      return;
    SmallVector<Attribute> results;
    for (Value result : op->getResults())
      results.push_back(places.lookup(result));
    if (!results.empty())
      op->setAttr(kPlaces, ArrayAttr::get(context, results));
  });
  SmallVector<Attribute> described;
  for (const Buffer &buffer : buffers)
    described.push_back(BufferAttr::get(context, StringAttr::get(context, buffer.name), buffer.type,
                                        buffer.first, buffer.last, buffer.pad, buffer.per));
  function->setAttr(kBuffers, ArrayAttr::get(context, described));
  function->setAttr(kEvents, Builder(context).getI64IntegerAttr(liveness.getNumEvents()));
}
