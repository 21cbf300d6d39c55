// Verifiers of meshes, reshards and collectives.

#include "dialects/dist/IR/DistOps.h"

#include "base/schedule/Csv.h"
#include "base/schedule/Source.h"
#include "base/schedule/Verify.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

#include <numeric>

using namespace mlir;
using namespace titan;
using namespace titan::dist;

/// `"layers", "layers_1"`.
static ParseResult parseNames(OpAsmParser &parser, ArrayAttr &names) {
  SmallVector<Attribute> list;
  auto parseName = [&] {
    StringAttr name;
    ParseResult result = parser.parseAttribute(name);
    list.push_back(name);
    return result;
  };
  if (parser.parseCommaSeparatedList(parseName))
    return failure();
  names = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printNames(OpAsmPrinter &printer, Operation * /*op*/, ArrayAttr names) {
  llvm::interleaveComma(names, printer, [&](Attribute name) { printer << name; });
}

#define GET_OP_CLASSES
#include "dialects/dist/IR/DistOps.cpp.inc"

LogicalResult MeshOp::verify() {
  llvm::StringSet<> names;
  int autos = 0;
  for (auto axis : getAxes().getAsRange<MeshAxisAttr>()) {
    if (!names.insert(axis.getName().getValue()).second)
      return emitOpError("(C1) axis ") << axis.getName() << " occurs twice";
    if (axis.getDegree() < 0 || (axis.isAuto() && ++autos > 1))
      return emitOpError("(C2) degree of axis ")
             << axis.getName() << " must be at least 1, or auto for one axis only";
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

bool MeshOp::hasAxis(StringAttr name) {
  return llvm::any_of(getAxes().getAsRange<MeshAxisAttr>(),
                      [&](MeshAxisAttr axis) { return axis.getName() == name; });
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

PipelineOp PipelineOp::lookup(Operation *from) {
  auto module = dyn_cast<ModuleOp>(from);
  if (!module)
    module = from->getParentOfType<ModuleOp>();
  auto pipelines = module.getOps<PipelineOp>();
  return pipelines.empty() ? PipelineOp() : *pipelines.begin();
}

int64_t PipelineOp::getNumLayers() {
  ArrayRef<int64_t> layers = getLayersPerStage();
  return std::accumulate(layers.begin(), layers.end(), int64_t(0));
}

/// Checks constraint (C5).
static LogicalResult verifyTable(PipelineOp op, int64_t degree) {
  std::vector<schedule::ScheduleFault> faults;
  const schedule::Schedule table = schedule::readTable(op.getSchedule(), faults);
  if (faults.empty())
    faults = schedule::verify(table);
  if (!faults.empty())
    return op.emitOpError("(C5) ") << faults.front().message << "; " << faults.front().remedy;
  if (static_cast<int64_t>(table.ranks.size()) != degree || table.stages != op.getNumStages() ||
      table.microbatches != static_cast<int64_t>(op.getMicrobatches()))
    return op.emitOpError("(C5) the table has ")
           << table.ranks.size() << " ranks, " << table.stages << " stages and "
           << table.microbatches << " microbatches";
  return success();
}

LogicalResult PipelineOp::verify() {
  MeshOp mesh = MeshOp::lookup(*this);
  int64_t degree = mesh && mesh.hasAxis(getAxisAttr()) ? mesh.getDegree(getAxisAttr()) : -1;
  if (degree < 0)
    return emitOpError("(C1) the mesh has no axis ") << getAxisAttr();
  if (degree == 0)
    return emitOpError("(C1) the degree of axis ") << getAxisAttr() << " is auto";
  const bool isTable = schedule::isTable(getSchedule());
  if (getNumStages() < 2 || (!isTable && getNumStages() % degree != 0))
    return emitOpError("(C2) expected 2 stages or more, and a multiple of the degree ")
           << degree << ", got " << getNumStages();
  if (llvm::any_of(getLayersPerStage(), [](int64_t layers) { return layers < 1; }))
    return emitOpError("(C3) a stage has no layers: [") << getLayersPerStage() << "]";
  if (static_cast<int64_t>(getMicrobatches()) < 1)
    return emitOpError("(C3) expected at least one microbatch, got ") << getMicrobatches();
  if (lookup(*this) != *this)
    return emitOpError("(C4) the module has two pipelines");
  llvm::DenseSet<Attribute> dims;
  for (Attribute dim : getDims())
    if (!dims.insert(dim).second)
      return emitOpError("(C6) dimension ") << dim << " occurs twice";
  return isTable ? verifyTable(*this, degree) : success();
}

/// The first element that is not a kind of state; null if there is none.
static StringAttr findUnknownStore(ArrayAttr stores) {
  for (auto kind : stores.getAsRange<StringAttr>())
    if (kind != "params" && kind != "grads" && kind != "optimizer")
      return kind;
  return {};
}

/// Whether `entry`, an element of `dist.overrides`, has exactly the fields that (C4) allows.
static bool isOverride(Attribute entry) {
  auto fields = dyn_cast<DictionaryAttr>(entry);
  auto of = fields ? fields.getAs<StringAttr>("of") : StringAttr();
  if (!of || (of != "parameters" && of != "values") || !fields.contains("names"))
    return false;
  return llvm::all_of(fields, [&](NamedAttribute field) {
    bool mayBe = field.getName() == "names" || field.getName() == "shards" ||
                 (field.getName() == "stores" && of == "parameters");
    auto list = dyn_cast<ArrayAttr>(field.getValue());
    return field.getName() == "of" ||
           (mayBe && list && llvm::all_of(list, llvm::IsaPred<StringAttr>));
  });
}

LogicalResult AxisRulesOp::verify() {
  MeshOp mesh = MeshOp::lookup(*this);
  if (!mesh || !mesh.hasAxis(getAxisAttr()))
    return emitOpError("(C1) the mesh has no axis ") << getAxisAttr();
  if (StringAttr kind = findUnknownStore(getStores()))
    return emitOpError("(C2) expected params, grads or optimizer, got ") << kind;
  for (Attribute name : getPads().value_or(ArrayAttr::get(getContext(), {})))
    if (!llvm::is_contained(getShards(), name) && !llvm::is_contained(getFallback(), name))
      return emitOpError("(C3) the axis does not split ") << name;
  const bool isAuto = mesh.getDegree(getAxisAttr()) == 0;
  if (isAuto && getHeadTail())
    return emitOpError("(C5) head-tail order needs a known degree of axis ") << getAxisAttr();
  if (isAuto && getAttention() != AttentionMethod::Gather)
    return emitOpError("(C5) ") << stringifyAttentionMethod(getAttention())
                                << " attention needs a known degree of axis " << getAxisAttr();
  if (getHeadTail() && getAttention() == AttentionMethod::AllToAll)
    return emitOpError("(C6) all_to_all attention needs positions in block order");
  auto overrides = (*this)->getAttrOfType<ArrayAttr>(kOverridesAttr);
  for (Attribute entry : overrides ? overrides.getValue() : ArrayRef<Attribute>()) {
    if (!isOverride(entry))
      return emitOpError("(C4) no override: ") << entry;
    if (auto stores = cast<DictionaryAttr>(entry).getAs<ArrayAttr>("stores"))
      if (StringAttr kind = findUnknownStore(stores))
        return emitOpError("(C2) expected params, grads or optimizer, got ") << kind;
  }
  return success();
}

LogicalResult ReshardOp::verify() {
  if (!getInput().getType().equalsUpToSharding(getResult().getType()))
    return emitOpError("(C1) operand and result differ: ")
           << getInput().getType() << " and " << getResult().getType();
  return success();
}

namespace {
/// The axis lists of a sharding: of one dimension, flat, or partial.
enum class AxisList { Dim, Flat, Partial };
struct Change {
  AxisList list;
  bool appended; // false: removed
};
} // namespace

/// `longer` is `shorter` followed by `axes`.
static bool isExtension(ArrayAttr longer, ArrayAttr shorter, ArrayAttr axes) {
  auto expected = llvm::to_vector(shorter.getValue());
  llvm::append_range(expected, axes.getValue());
  return longer.getValue() == ArrayRef(expected);
}

/// Partial axes are a set, so one change may remove any of them. `larger` has no duplicates, so the
/// sizes and distinct members imply equality.
static bool isUnion(ArrayAttr larger, ArrayAttr smaller, ArrayAttr axes) {
  llvm::SmallDenseSet<Attribute> united;
  auto isNew = [&](Attribute axis) {
    return llvm::is_contained(larger, axis) && united.insert(axis).second;
  };
  return larger.size() == smaller.size() + axes.size() && llvm::all_of(smaller, isNew) &&
         llvm::all_of(axes, isNew);
}

/// Whether a collective preserves all but the moved axes. The reduction kind stays; a replicated
/// value can only become a partial sum. Flat storage depends on the axes of the dimensions, so both
/// stay.
static bool preservesRest(ShardingAttr from, ShardingAttr to) {
  ReductionKind kind = from.isPartial() ? from.getPartialKind() : ReductionKind::Sum;
  if (to.isPartial() && to.getPartialKind() != kind)
    return false;
  bool staysFlat = from.isFlat() && to.isFlat();
  return !staysFlat ||
         (from.getFlatFrom() == to.getFlatFrom() && from.getDimAxes() == to.getDimAxes());
}

/// The changed axis lists; failure if one changes by other axes than `axes`.
static FailureOr<SmallVector<Change>> findChanges(ShardingAttr from, ShardingAttr to,
                                                  ArrayAttr axes) {
  SmallVector<Change> changes;
  auto compare = [&](AxisList list, ArrayAttr before, ArrayAttr after) -> LogicalResult {
    if (before == after)
      return success();
    auto grows = list == AxisList::Partial ? isUnion : isExtension;
    if (grows(after, before, axes))
      changes.push_back({list, true});
    else if (grows(before, after, axes))
      changes.push_back({list, false});
    else
      return failure();
    return success();
  };
  for (auto [before, after] : llvm::zip_equal(from.getDimAxes(), to.getDimAxes()))
    if (failed(compare(AxisList::Dim, before, after)))
      return failure();
  if (failed(compare(AxisList::Flat, from.getFlatAxes(), to.getFlatAxes())) ||
      failed(compare(AxisList::Partial, from.getPartialAxes(), to.getPartialAxes())))
    return failure();
  return changes;
}

/// Checks that `axes` leave one of `sources` and enter one of `targets`; an empty list means no
/// change.
static LogicalResult verifyMove(Operation *op, unsigned i, ArrayAttr axes,
                                ArrayRef<AxisList> sources, ArrayRef<AxisList> targets) {
  auto input = cast<ir::NamedTensorType>(op->getOperand(i).getType());
  auto result = cast<ir::NamedTensorType>(op->getResult(i).getType());
  if (!input.equalsUpToSharding(result))
    return op->emitOpError("(C1) operand and result differ: ") << input << " and " << result;
  ShardingAttr from = input.getShardingOrReplicated(), to = result.getShardingOrReplicated();
  auto changes = findChanges(from, to, axes);
  bool fits = preservesRest(from, to) && from.hasSameOrders(to) && succeeded(changes) &&
              changes->size() == size_t(!sources.empty()) + size_t(!targets.empty());
  if (fits)
    for (Change change : *changes)
      fits &= llvm::is_contained(change.appended ? targets : sources, change.list);
  for (Attribute axis : axes)
    if (axes.size() > 1 &&
        (from.getOrder(axis) == ShardOrder::HeadTail || to.getOrder(axis) == ShardOrder::HeadTail))
      return op->emitOpError("(C4) moves ") << axis << ", which has head-tail order, with others";
  if (!fits)
    return op->emitOpError("(C2) does not lead from ")
           << input << " to " << result << " by " << axes;
  return success();
}

static LogicalResult verifyMoves(Operation *op, ArrayAttr axes, ArrayRef<AxisList> sources,
                                 ArrayRef<AxisList> targets) {
  unsigned count = op->getNumOperands();
  if (count == 0 || op->getNumResults() != count)
    return op->emitOpError("(C1) has ")
           << count << " operands but " << op->getNumResults() << " results";
  auto first = cast<ir::NamedTensorType>(op->getOperand(0).getType());
  ShardingAttr sharding = first.getShardingOrReplicated();
  for (unsigned i = 0; i < count; ++i) {
    if (failed(verifyMove(op, i, axes, sources, targets)))
      return failure();
    auto type = cast<ir::NamedTensorType>(op->getOperand(i).getType());
    if (type.getElementType() != first.getElementType() ||
        type.getShardingOrReplicated().getPartialKind() != sharding.getPartialKind())
      return op->emitOpError("(C3) coalesces ") << type << " with " << first;
  }
  return success();
}

LogicalResult AllGatherOp::verify() {
  return verifyMoves(*this, getAxes(), {AxisList::Dim, AxisList::Flat}, {});
}
LogicalResult AllReduceOp::verify() {
  return verifyMoves(*this, getAxes(), {AxisList::Partial}, {});
}
LogicalResult AllToAllOp::verify() {
  return verifyMoves(*this, getAxes(), {AxisList::Dim}, {AxisList::Dim});
}
static LogicalResult verifyOffset(Operation *op, int64_t offset, StringRef constraint) {
  if (offset != 0)
    return success();
  return op->emitOpError("(") << constraint << ") stays on its rank: the offset is 0";
}

LogicalResult PermuteOp::verify() {
  if (getInputs().empty() || getInputs().getTypes() != getResultTypes())
    return emitOpError("(C1) has operands of types ")
           << getInputs().getTypes() << " but results of types " << getResultTypes();
  auto first = cast<ir::NamedTensorType>(getInputs().front().getType());
  for (Type type : getInputs().getTypes())
    if (cast<ir::NamedTensorType>(type).getElementType() != first.getElementType())
      return emitOpError("(C3) coalesces ") << type << " with " << first;
  return verifyOffset(*this, getOffset(), "C2");
}
LogicalResult SendOp::verify() {
  return verifyOffset(*this, getOffset(), "C1");
}
LogicalResult ReceiveOp::verify() {
  if (getInput().getType() != getResult().getType())
    return emitOpError("(C1) operand and result differ: ")
           << getInput().getType() << " and " << getResult().getType();
  return verifyOffset(*this, getOffset(), "C2");
}
LogicalResult ReduceScatterOp::verify() {
  return verifyMoves(*this, getAxes(), {AxisList::Partial}, {AxisList::Dim, AxisList::Flat});
}
LogicalResult LocalSliceOp::verify() {
  return verifyMove(*this, 0, getAxes(), {}, {AxisList::Dim, AxisList::Flat});
}
LogicalResult MakePartialOp::verify() {
  return verifyMove(*this, 0, getAxes(), {}, {AxisList::Partial});
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
