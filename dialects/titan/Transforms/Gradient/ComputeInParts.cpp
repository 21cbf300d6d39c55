//===- ComputeInParts.cpp - The pass --titan-compute-in-parts -------------===//

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Differentiation/GradientBuilder.h"
#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Transforms/Gradient/PartGroup.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "dialects/titan/Transforms/Gradient/Programs.h"
#include "mlir/IR/IRMapping.h"
#include <numeric>

namespace titan::ir {
#define GEN_PASS_DEF_TITANCOMPUTEINPARTS
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Values of so many bytes are not worth a loop.
constexpr int64_t kKeptWhole = int64_t{32} << 20;

/// How much of a value lies on one rank, by what the maps bind: an axis takes the first dimension
/// that it lists. Of one whose degree the launch chooses, a single index is assumed.
class LocalSizes {
public:
  explicit LocalSizes(ModuleOp module)
      : maps(module.getOps<dist::MapOp>()), meshes(module.getOps<dist::MeshOp>()) {}

  int64_t getNumElements(Value value) {
    auto type = cast<NamedTensorType>(value.getType());
    SmallVector<int64_t> sizes(type.getShape());
    for (dist::MapOp map : maps)
      for (auto name : map.getSplits().getAsRange<StringAttr>())
        if (int64_t at = type.indexOf(name); at >= 0) {
          int64_t degree = (*meshes.begin()).getDegree(map.getAxisAttr());
          sizes[at] = degree == 0 ? 1 : std::max<int64_t>(1, sizes[at] / degree);
          break;
        }
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  }
  int64_t getBytes(Value value) {
    Type element = cast<NamedTensorType>(value.getType()).getElementType();
    return getNumElements(value) * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  }

  /// Whether an axis splits `dim` before any other: parts of it would be parts of shards.
  bool isSplit(StringAttr dim) {
    return llvm::any_of(maps, [&](dist::MapOp map) {
      return llvm::is_contained(map.getSplits().getAsRange<StringAttr>(), dim);
    });
  }

private:
  decltype(std::declval<ModuleOp>().getOps<dist::MapOp>()) maps;
  decltype(std::declval<ModuleOp>().getOps<dist::MeshOp>()) meshes;
};

/// A group of operations, the dimension that is cut, and into how many parts.
struct Plan {
  PartGroup group;
  DimAttr dim;
  int64_t parts;
};

/// Replaces the operations of a group by a repeat over parts of a dimension.
class PartsBuilder {
public:
  PartsBuilder(Block &block, const Plan &plan)
      : block(block), group(plan.group), dim(plan.dim), parts(plan.parts),
        builder(group.getOps().back()), math(builder, group.getOps().back()->getLoc()) {
    partsDim = DimAttr::get(builder.getContext(),
                            builder.getStringAttr(dim.getName().getValue() + ".parts"), parts);
  }

  void run();

private:
  StringAttr getName(Value value);
  NamedTensorType cut(Value value);
  NamedTensorType split(Value value);
  Value toSlices(Value value);
  Value fromStack(Value value, Value stack);
  RepeatOp createLoop();
  void fillLoop(RepeatOp loop);
  void replace(Value value, Value by);

  Block &block;
  const PartGroup &group;
  DimAttr dim;
  int64_t parts;
  OpBuilder builder;
  GradientBuilder math;
  DimAttr partsDim;
};

} // namespace

/// What the dimension is called in `value`.
StringAttr PartsBuilder::getName(Value value) {
  return cast<NamedTensorType>(value.getType()).getDims()[group.get(value).dim].getName();
}

/// The type of one part.
NamedTensorType PartsBuilder::cut(Value value) {
  return cutType(cast<NamedTensorType>(value.getType()), group.get(value).dim, parts);
}

/// The value's type with the dimension as two, `[..., parts, dim / parts, ...]`.
NamedTensorType PartsBuilder::split(Value value) {
  SmallVector<DimAttr> dims(cut(value).getDims());
  dims.insert(dims.begin() + group.get(value).dim, partsDim);
  return NamedTensorType::get(cut(value).getElementType(), dims);
}

/// The parts one after the other, as a repeat slices them.
Value PartsBuilder::toSlices(Value value) {
  math.setLoc(value.getLoc());
  Value both = math.create<SplitOp>(split(value), value, getName(value));
  return math.fitTo(both, RepeatOp::getStackedType(partsDim, cut(value)));
}

Value PartsBuilder::fromStack(Value value, Value stack) {
  math.setLoc(value.getLoc());
  Value both = math.fitTo(stack, split(value));
  return math.create<MergeOp>(value.getType(), both, getName(value));
}

RepeatOp PartsBuilder::createLoop() {
  SmallVector<Value> zeros, slices;
  SmallVector<Type> stacks;
  for (Value sum : group.getSums()) {
    math.setLoc(sum.getLoc());
    zeros.push_back(math.zeros(cast<NamedTensorType>(sum.getType())));
  }
  for (Value value : group.getCut())
    slices.push_back(toSlices(value));
  for (Value value : group.getStacked())
    stacks.push_back(RepeatOp::getStackedType(partsDim, cut(value)));
  return builder.create<RepeatOp>(group.getOps().front()->getLoc(), partsDim, /*reverse=*/false,
                                  zeros, slices, stacks);
}

void PartsBuilder::fillLoop(RepeatOp loop) {
  RepeatVariant part = loop.getVariant(0);
  OpBuilder inside = OpBuilder::atBlockEnd(&part.getBlock());
  IRMapping mapping;
  for (auto [value, slice] : llvm::zip_equal(group.getCut(), part.getSliceArgs()))
    mapping.map(value, slice);
  for (Operation *op : group.getOps())
    cutTypes(op, inside.clone(*op, mapping), [&](Value value) { return group.get(value); }, parts);
  GradientBuilder add(inside, loop.getLoc());
  SmallVector<Value> yielded;
  for (auto [sum, carried] : llvm::zip_equal(group.getSums(), part.getCarriedArgs())) {
    add.setLoc(sum.getLoc());
    yielded.push_back(add.add(carried, mapping.lookup(sum)));
  }
  for (Value value : group.getStacked())
    yielded.push_back(mapping.lookup(value));
  inside.create<YieldOp>(loop.getLoc(), yielded);
}

void PartsBuilder::replace(Value value, Value by) {
  value.replaceUsesWithIf(by, [&](OpOperand &use) {
    return !group.contains(block.findAncestorOpInBlock(*use.getOwner()));
  });
}

/// The loop stands where the group ends; what reads its results from between comes behind.
void PartsBuilder::run() {
  Operation *last = group.getOps().back();
  SmallVector<Operation *> later;
  for (Operation *op = group.getOps().front(); op != last; op = op->getNextNode())
    if (group.isBehind(op) && !group.contains(op))
      later.push_back(op);
  RepeatOp loop = createLoop();
  fillLoop(loop);
  builder.setInsertionPointAfter(loop);
  for (auto [sum, total] : llvm::zip_equal(group.getSums(), loop.getCarriedResults()))
    replace(sum, total);
  for (auto [value, stack] : llvm::zip_equal(group.getStacked(), loop.getStackedResults()))
    replace(value, fromStack(value, stack));
  for (Operation *op : later)
    op->moveBefore(&block, builder.getInsertionPoint());
  for (Operation *op : llvm::reverse(group.getOps()))
    if (op->use_empty())
      op->erase();
}

/// The fewest parts of which each takes at most `most` bytes; of all sizes that divide the
/// dimension. One index at a time where that is not enough.
static int64_t countParts(int64_t size, int64_t bytes, int64_t most) {
  int64_t parts = 1;
  while (parts < size && (size % parts || bytes / parts > most))
    ++parts;
  return parts;
}

/// Parts that are half as large as what they are summed up to: smaller ones would save little, and
/// each moves the sum through memory once more. Elementwise operations do not count, since they
/// will be fused with others.
static int64_t chooseParts(const PartGroup &group, LocalSizes &sizes, int64_t keptWhole) {
  int64_t largest = 0, sum = 0;
  for (Operation *op : group.getOps())
    for (Value result : op->getResults())
      if (group.get(result).kind == Flow::Split && !op->hasTrait<Elementwise>())
        largest = std::max(largest, sizes.getBytes(result));
  for (Value value : group.getSums())
    sum = std::max(sum, sizes.getBytes(value));
  return largest <= keptWhole ? 1
                              : countParts(group.getSize(), largest, std::max(keptWhole, sum / 2));
}

static bool isParameterDim(func::FuncOp function, StringAttr dim) {
  return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
    return function.getArgAttr(argument.getArgNumber(), attr::kParam) &&
           cast<NamedTensorType>(argument.getType()).hasDim(dim);
  });
}

/// Dimensions that may be cut, outer ones first, of the function's largest plain value that has
/// any: no parameter's, and none that is cut already, by an axis or as `batch`.
static SmallVector<DimAttr> getCandidates(func::FuncOp function, LocalSizes &sizes,
                                          StringAttr batch) {
  auto mayCut = [&](DimAttr dim) {
    return !sizes.isSplit(dim.getName()) && dim.getName() != batch &&
           !isParameterDim(function, dim.getName());
  };
  SmallVector<DimAttr> dims;
  int64_t largest = 0;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (op.getNumRegions())
      continue;
    for (Value result : op.getResults()) {
      auto own = llvm::to_vector(
          llvm::make_filter_range(cast<NamedTensorType>(result.getType()).getDims(), mayCut));
      if (own.empty() || sizes.getNumElements(result) <= largest)
        continue;
      largest = sizes.getNumElements(result);
      dims = std::move(own);
    }
  }
  return dims;
}

namespace {

/// Chooses what a function computes in parts.
class Planner {
public:
  Planner(func::FuncOp function, LocalSizes &sizes, StringAttr batch)
      : block(function.getBody().front()), sizes(sizes),
        dims(getCandidates(function, sizes, batch)) {}

  /// The dimension by which the largest value becomes smallest, if it has more than `keptWhole`
  /// bytes.
  std::optional<Plan> choose(int64_t keptWhole);
  /// So many parts, of the outermost dimension that can be cut into them.
  std::optional<Plan> find(int64_t parts);
  /// Why there is nothing to find.
  const PartGroup::Obstacle &getObstacle() const { return obstacle; }

private:
  FailureOr<PartGroup> findGroup(DimAttr dim);

  Block &block;
  LocalSizes &sizes;
  SmallVector<DimAttr> dims;
  PartGroup::Obstacle obstacle;
};

} // namespace

FailureOr<PartGroup> Planner::findGroup(DimAttr dim) {
  PartGroup::Obstacle here;
  auto group = PartGroup::find(
      block, dim.getName(), [&](Value value) { return sizes.getNumElements(value); }, here);
  if (failed(group) && !obstacle.op)
    obstacle = here;
  return group;
}

std::optional<Plan> Planner::choose(int64_t keptWhole) {
  std::optional<Plan> best;
  for (DimAttr dim : dims) {
    auto group = findGroup(dim);
    int64_t parts = succeeded(group) ? chooseParts(*group, sizes, keptWhole) : 1;
    if (parts > (best ? best->parts : 1))
      best = Plan{std::move(*group), dim, parts};
  }
  return best;
}

std::optional<Plan> Planner::find(int64_t parts) {
  for (DimAttr dim : dims)
    if (dim.getSize() % parts == 0)
      if (auto group = findGroup(dim); succeeded(group) && group->getSize() % parts == 0)
        return Plan{std::move(*group), dim, parts};
  return std::nullopt;
}

static InFlightDiagnostic refuse(func::FuncOp function, int64_t parts,
                                 const PartGroup::Obstacle &obstacle) {
  InFlightDiagnostic error = function.emitError("cannot compute the loss in ") << parts << " parts";
  if (obstacle.op)
    error.attachNote(obstacle.op->getLoc()) << obstacle.why;
  else
    error.attachNote()
        << "no dimension of the largest value that is neither a parameter's nor split "
           "by an axis is a multiple of "
        << parts;
  return error;
}

/// Takes an integer off a function.
static int64_t takeAttr(func::FuncOp function, StringRef name, int64_t otherwise) {
  auto value = dyn_cast_or_null<IntegerAttr>(function->removeAttr(name));
  return value ? value.getInt() : otherwise;
}

static LogicalResult computeInParts(func::FuncOp function) {
  int64_t parts = takeAttr(function, attr::kLossParts, 0);
  int64_t keptWhole = takeAttr(function, attr::kKeepWhole, kKeptWhole);
  auto accumulate = function->getAttrOfType<DictionaryAttr>(attr::kAccumulate);
  LocalSizes sizes(function->getParentOfType<ModuleOp>());
  Planner planner(function, sizes, accumulate ? accumulate.getAs<StringAttr>("dim") : StringAttr());
  std::optional<Plan> plan = parts == 0 ? planner.choose(keptWhole) : planner.find(parts);
  if (plan && plan->parts > 1) {
    PartsBuilder(function.getBody().front(), *plan).run();
    cleanUp(function);
  }
  if (!plan && parts > 1)
    return refuse(function, parts, planner.getObstacle());
  return success();
}

namespace {
struct ComputeInParts : titan::ir::impl::TitanComputeInPartsBase<ComputeInParts> {
  void runOnOperation() override {
    for (func::FuncOp function : getTrainPrograms(getOperation()))
      if (failed(computeInParts(function)))
        return signalPassFailure();
  }
};
} // namespace
