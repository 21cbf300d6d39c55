//===- DistOps.cpp - Constraints of meshes, reshards and collectives ------===//

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

#define GET_OP_CLASSES
#include "dialects/dist/IR/DistOps.cpp.inc"

LogicalResult MeshOp::verify() {
  llvm::StringSet<> names;
  int autos = 0;
  for (auto axis : getAxes().getAsRange<MeshAxisAttr>()) {
    if (!names.insert(axis.getName().getValue()).second)
      return emitOpError("(C1) axis ") << axis.getName() << " occurs twice";
    if (axis.getDegree() < 0 || (axis.isAuto() && ++autos > 1))
      return emitOpError("(C2) degree of axis ") << axis.getName()
             << " must be at least 1, or auto for one axis only";
  }
  return success();
}

MeshOp MeshOp::lookup(Operation *from) {
  auto module = dyn_cast<ModuleOp>(from);
  if (!module)
    module = from->getParentOfType<ModuleOp>();
  auto meshes = module.getOps<MeshOp>();
  return meshes.empty() ? MeshOp() : *meshes.begin();
}

int64_t MeshOp::getDegree(StringAttr name) {
  for (auto axis : getAxes().getAsRange<MeshAxisAttr>())
    if (axis.getName() == name)
      return axis.getDegree();
  return 1;
}

int64_t MeshOp::getNumRanks() {
  int64_t ranks = 1;
  for (auto axis : getAxes().getAsRange<MeshAxisAttr>())
    ranks *= axis.getDegree();
  return ranks;
}

LogicalResult MapOp::verify() {
  MeshOp mesh = MeshOp::lookup(*this);
  if (!mesh || llvm::none_of(mesh.getAxes().getAsRange<MeshAxisAttr>(),
                             [&](MeshAxisAttr axis) { return axis.getName() == getAxisAttr(); }))
    return emitOpError("(C1) the mesh has no axis ") << getAxisAttr();
  for (auto kind : getStores().getAsRange<StringAttr>())
    if (kind != "params" && kind != "grads" && kind != "optimizer")
      return emitOpError("(C2) expected params, grads or optimizer, got ") << kind;
  return success();
}

LogicalResult ReshardOp::verify() {
  if (!getInput().getType().equalsUpToSharding(getResult().getType()))
    return emitOpError("(C1) operand and result differ: ")
           << getInput().getType() << " and " << getResult().getType();
  return success();
}

namespace {
/// Where a sharding names axes: a dimension's list, the flat axes or the partial axes.
enum class Place { Dim, Flat, Partial };
struct Change {
  Place place;
  bool appended; // else removed
};
} // namespace

/// `longer` is `shorter` followed by `axes`.
static bool isExtension(ArrayAttr longer, ArrayAttr shorter, ArrayAttr axes) {
  auto expected = llvm::to_vector(shorter.getValue());
  llvm::append_range(expected, axes.getValue());
  return longer.getValue() == ArrayRef(expected);
}

/// Partial axes are a set: removing any of them is one change.
static bool isUnion(ArrayAttr larger, ArrayAttr smaller, ArrayAttr axes) {
  return larger.size() == smaller.size() + axes.size() &&
         llvm::all_of(llvm::concat<const Attribute>(smaller.getValue(), axes.getValue()),
                      [&](Attribute axis) { return llvm::is_contained(larger, axis); });
}

/// The changes from one sharding to the other, each by exactly `axes`; failure if one is by others.
static FailureOr<SmallVector<Change>> findChanges(ShardingAttr from, ShardingAttr to, ArrayAttr axes) {
  SmallVector<Change> changes;
  auto compare = [&](Place place, ArrayAttr before, ArrayAttr after) -> LogicalResult {
    if (before == after)
      return success();
    auto grows = place == Place::Partial ? isUnion : isExtension;
    if (grows(after, before, axes))
      changes.push_back({place, true});
    else if (grows(before, after, axes))
      changes.push_back({place, false});
    else
      return failure();
    return success();
  };
  for (auto [before, after] : llvm::zip_equal(from.getDimAxes(), to.getDimAxes()))
    if (failed(compare(Place::Dim, before, after)))
      return failure();
  if (failed(compare(Place::Flat, from.getFlatAxes(), to.getFlatAxes())) ||
      failed(compare(Place::Partial, from.getPartialAxes(), to.getPartialAxes())))
    return failure();
  return changes;
}

/// Checks that the axes leave `source` (where given) and arrive at `target` (where given).
static LogicalResult verifyMove(Operation *op, unsigned i, ArrayAttr axes, ArrayRef<Place> sources,
                                ArrayRef<Place> targets) {
  auto input = cast<ir::NamedTensorType>(op->getOperand(i).getType());
  auto result = cast<ir::NamedTensorType>(op->getResult(i).getType());
  if (!input.equalsUpToSharding(result))
    return op->emitOpError("(C1) operand and result differ: ") << input << " and " << result;
  auto changes = findChanges(input.getShardingOrReplicated(), result.getShardingOrReplicated(), axes);
  bool fits = succeeded(changes) && changes->size() == size_t(!sources.empty()) + size_t(!targets.empty());
  if (fits)
    for (Change change : *changes)
      fits &= llvm::is_contained(change.appended ? targets : sources, change.place);
  if (!fits)
    return op->emitOpError("(C2) does not lead from ") << input << " to " << result << " by " << axes;
  return success();
}

static LogicalResult verifyMoves(Operation *op, ArrayAttr axes, ArrayRef<Place> sources,
                                 ArrayRef<Place> targets) {
  unsigned count = op->getNumOperands();
  if (count == 0 || op->getNumResults() != count)
    return op->emitOpError("(C1) exchanges ") << count << " operands for " << op->getNumResults()
                                              << " results";
  auto first = cast<ir::NamedTensorType>(op->getOperand(0).getType());
  ShardingAttr sharding = first.getShardingOrReplicated();
  for (unsigned i = 0; i < count; ++i) {
    if (failed(verifyMove(op, i, axes, sources, targets)))
      return failure();
    auto type = cast<ir::NamedTensorType>(op->getOperand(i).getType());
    if (type.getElementType() != first.getElementType() ||
        type.getShardingOrReplicated().getPartialKind() != sharding.getPartialKind())
      return op->emitOpError("(C3) exchanges ") << type << " together with " << first;
  }
  return success();
}

LogicalResult AllGatherOp::verify() {
  return verifyMoves(*this, getAxes(), {Place::Dim, Place::Flat}, {});
}
LogicalResult AllReduceOp::verify() { return verifyMoves(*this, getAxes(), {Place::Partial}, {}); }
LogicalResult AllToAllOp::verify() {
  return verifyMoves(*this, getAxes(), {Place::Dim}, {Place::Dim});
}
LogicalResult ReduceScatterOp::verify() {
  return verifyMoves(*this, getAxes(), {Place::Partial}, {Place::Dim, Place::Flat});
}
LogicalResult LocalSliceOp::verify() {
  return verifyMove(*this, 0, getAxes(), {}, {Place::Dim, Place::Flat});
}
LogicalResult MakePartialOp::verify() {
  return verifyMove(*this, 0, getAxes(), {}, {Place::Partial});
}

std::optional<int64_t> dist::getStartChannel(Operation *op) {
  if (!isCollective(op))
    return std::nullopt;
  auto channel = op->getAttrOfType<IntegerAttr>("channel");
  return channel ? std::optional(channel.getInt()) : std::nullopt;
}

LogicalResult WaitOp::verify() {
  if (getFlights().getTypes() != getResultTypes())
    return emitOpError("(C1) gives values of other types than it waits for");
  for (Value flight : getFlights()) {
    Operation *start = flight.getDefiningOp();
    if (start ? getStartChannel(start) != static_cast<int64_t>(getChannel())
              : !isa<ir::RepeatOp>(flight.getParentBlock()->getParentOp()))
      return emitOpError("(C2) waits on channel ") << getChannel() << " for a value that is not in "
                                                   << "flight there";
  }
  return success();
}

bool LayerOp::exists(int64_t at) {
  int64_t position = getPosition(at);
  return position >= 0 && position < getStack().getType().getDims().front().getSize();
}

LogicalResult LayerOp::verify() {
  ir::NamedTensorType stack = getStack().getType();
  if (stack.getRank() == 0 || ir::RepeatOp::getSliceType(stack) != getType())
    return emitOpError("(C1) gives ") << getType() << ", which is no slice of " << stack;
  auto index = dyn_cast_or_null<BlockArgument>(getIndex());
  std::optional<ir::RepeatVariant> body =
      index ? ir::findVariant(index.getOwner()) : std::nullopt;
  bool isIndex = body && index == body->getIndex() &&
                 body->getRepeat().getDim().getSize() == stack.getDims().front().getSize();
  if (getIndex() ? !isIndex : !exists(0))
    return emitOpError("(C2) has no slice ") << getOffset() << " of " << stack;
  return success();
}

/// `%w[%l + 1]`, `%w[%l - 1]`, `%w[%l]` or `%w[3]`.
ParseResult LayerOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand stack, index;
  int64_t offset = 0;
  ir::NamedTensorType from, to;
  if (parser.parseOperand(stack) || parser.parseLSquare())
    return failure();
  OptionalParseResult hasIndex = parser.parseOptionalOperand(index);
  if (hasIndex.has_value()) {
    if (failed(*hasIndex))
      return failure();
    bool isPlus = succeeded(parser.parseOptionalPlus());
    OptionalParseResult hasOffset = parser.parseOptionalInteger(offset);
    if (hasOffset.has_value() ? failed(*hasOffset) : isPlus)
      return failure();
  } else if (parser.parseInteger(offset)) {
    return failure();
  }
  if (parser.parseRSquare() || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(from) || parser.parseArrow() || parser.parseType(to) ||
      parser.resolveOperand(stack, from, state.operands))
    return failure();
  Builder &builder = parser.getBuilder();
  if (hasIndex.has_value()) {
    // The index of a repeat has a sharding once the shard phase is done.
    auto scalar = ir::NamedTensorType::get(builder.getI64Type(), {},
                                           ShardingAttr::getReplicated(builder.getContext(), 0));
    if (parser.resolveOperand(index, scalar, state.operands))
      return failure();
  }
  state.addAttribute("offset", builder.getI64IntegerAttr(offset));
  state.addTypes(to);
  return success();
}

void LayerOp::print(OpAsmPrinter &printer) {
  int64_t offset = static_cast<int64_t>(getOffset());
  printer << ' ' << getStack() << '[';
  if (!getIndex())
    printer << offset;
  else
    printer << getIndex();
  if (getIndex() && offset != 0)
    printer << (offset < 0 ? " - " : " + ") << std::abs(offset);
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"offset"});
  printer << " : " << getStack().getType() << " -> " << getType();
}

Location dist::getValueLocation(OpResult result) {
  Location location = result.getLoc();
  auto several = dyn_cast<FusedLoc>(location);
  if (several && several.getLocations().size() == result.getOwner()->getNumResults())
    return several.getLocations()[result.getResultNumber()];
  return location;
}

void dist::setResultNames(Operation *op, OpAsmSetValueNameFn setName) {
  for (OpResult result : op->getResults())
    if (auto named = getValueLocation(result)->findInstanceOf<NameLoc>();
        named && !named.getName().empty())
      setName(result, named.getName().getValue());
}
