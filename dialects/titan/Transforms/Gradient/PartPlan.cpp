//===- PartPlan.cpp - Which values are computed in how many parts ---------===//

#include "dialects/titan/Transforms/Gradient/PartPlan.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Support/Programs.h"
#include "mlir/IR/BuiltinOps.h"
#include <numeric>

using namespace mlir;
using namespace titan;
using namespace titan::ir;

PartPlanner::PartPlanner(func::FuncOp function, StringAttr batch) : function(function) {
  auto module = function->getParentOfType<ModuleOp>();
  dist::MeshOp mesh = dist::MeshOp::lookup(function);
  for (auto map : module.getOps<dist::MapOp>())
    axes.push_back({llvm::to_vector(map.getSplits().getAsRange<StringAttr>()),
                    mesh.getDegree(map.getAxisAttr())});
  findCandidates(batch);
}

/// On one rank: an axis takes the first dimension that it lists. Of one whose degree the launch
/// chooses, a single index is assumed.
int64_t PartPlanner::getNumElements(Value value) const {
  auto type = cast<NamedTensorType>(value.getType());
  SmallVector<int64_t> sizes(type.getShape());
  for (const Axis &axis : axes)
    for (StringAttr name : axis.splits)
      if (int64_t at = type.indexOf(name); at >= 0) {
        sizes[at] = axis.degree == 0 ? 1 : std::max<int64_t>(1, sizes[at] / axis.degree);
        break;
      }
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

int64_t PartPlanner::getBytes(Value value) const {
  Type element = cast<NamedTensorType>(value.getType()).getElementType();
  return getNumElements(value) * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// No parameter's dimension, and none that is cut already: parts of what an axis splits would be
/// parts of shards.
bool PartPlanner::mayCut(DimAttr dim, StringAttr batch) {
  auto isParameters = [&](BlockArgument argument) {
    return function.getArgAttr(argument.getArgNumber(), attr::kParam) &&
           cast<NamedTensorType>(argument.getType()).hasDim(dim.getName());
  };
  auto isSplit = [&](const Axis &axis) { return llvm::is_contained(axis.splits, dim.getName()); };
  return dim.getName() != batch && llvm::none_of(axes, isSplit) &&
         llvm::none_of(function.getArguments(), isParameters);
}

/// Those of the function's largest plain value that has any.
void PartPlanner::findCandidates(StringAttr batch) {
  int64_t largest = 0;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (op.getNumRegions())
      continue;
    for (Value result : op.getResults()) {
      auto own =
          llvm::to_vector(llvm::make_filter_range(cast<NamedTensorType>(result.getType()).getDims(),
                                                  [&](DimAttr dim) { return mayCut(dim, batch); }));
      if (own.empty() || getNumElements(result) <= largest)
        continue;
      largest = getNumElements(result);
      dims = std::move(own);
    }
  }
}

/// The fewest parts of which each takes at most `most` bytes; of all sizes that divide the
/// dimension. One index at a time where that is not enough.
static int64_t countParts(int64_t size, int64_t bytes, int64_t most) {
  int64_t parts = 1;
  while (parts < size && (size % parts || bytes / parts > most))
    ++parts;
  return parts;
}

/// Likely to be computed together with others, row by row, so that what it makes is not in memory.
static bool willBeFused(Operation *op) {
  return op->hasTrait<Elementwise>() || isa<ReduceOp, TakeOp, PutOp>(op);
}

/// Parts that are half as large as what they are summed up to: smaller ones would save little, and
/// each moves the sum through memory once more. Up to 128 MiB they are as large as the sum:
/// products of few rows are slow, since their other operand is packed for each.
int64_t PartPlanner::chooseParts(const PartGroup &group, int64_t keptWhole) const {
  int64_t largest = 0, sum = 0;
  for (Operation *op : group.getOps())
    for (Value result : op->getResults())
      if (group.get(result).kind == Flow::Split && !willBeFused(op))
        largest = std::max(largest, getBytes(result));
  for (Value value : group.getSums())
    sum = std::max(sum, getBytes(value));
  if (largest <= keptWhole)
    return 1;
  constexpr int64_t large = int64_t{128} << 20;
  const int64_t most = std::max({keptWhole, sum / 2, std::min(sum, large)});
  return countParts(group.getSize(), largest, most);
}

FailureOr<PartGroup> PartPlanner::findGroup(DimAttr dim) {
  PartGroup::Obstacle here;
  auto group = PartGroup::find(
      function.getBody().front(), dim.getName(), [&](Value value) { return getNumElements(value); },
      here);
  if (failed(group) && !obstacle.op)
    obstacle = here;
  return group;
}

std::optional<PartPlan> PartPlanner::choose(int64_t keptWhole) {
  std::optional<PartPlan> best;
  for (DimAttr dim : dims) {
    auto group = findGroup(dim);
    int64_t parts = succeeded(group) ? chooseParts(*group, keptWhole) : 1;
    if (parts > (best ? best->parts : 1))
      best = PartPlan{std::move(*group), dim, parts};
  }
  return best;
}

/// Adds what `ops` need.
static void addNeeded(Block &block, llvm::DenseSet<Operation *> &ops) {
  for (Operation &op : llvm::reverse(block))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          return ops.contains(block.findAncestorOpInBlock(*user));
        }))
      ops.insert(&op);
}

/// Adds what depends on `ops`.
static void addDependent(Block &block, llvm::DenseSet<Operation *> &ops) {
  for (Operation &op : block)
    op.walk([&](Operation *inner) {
      if (llvm::any_of(inner->getOperands(),
                       [&](Value value) { return ops.contains(value.getDefiningOp()); }))
        ops.insert(&op);
    });
}

/// What lies between the repeats that the loss waits for and those that compute gradients.
static llvm::DenseSet<Operation *> getHead(func::FuncOp function) {
  Block &block = function.getBody().front();
  llvm::DenseSet<Operation *> forward, before, behind, head;
  if (auto loss = findResult(function, attr::kOutput, "loss"))
    forward.insert(block.getTerminator()->getOperand(*loss).getDefiningOp());
  addNeeded(block, forward);
  for (auto repeat : block.getOps<RepeatOp>())
    (forward.contains(repeat) ? before : behind).insert(repeat);
  addNeeded(block, before);
  addDependent(block, behind);
  for (Operation &op : block.without_terminator())
    if (!before.contains(&op) && !behind.contains(&op))
      head.insert(&op);
  return head;
}

/// Where other values of the block are as large as logits, a group of all of them leads through the
/// repeats. The head alone saves less, which is for the user to weigh.
FailureOr<PartGroup> PartPlanner::findHead(DimAttr dim) {
  PartGroup::Obstacle here;
  auto group = PartGroup::findIn(
      getHead(function), function.getBody().front(), dim.getName(),
      [&](Value value) { return getNumElements(value); }, here);
  obstacle = here;
  return group;
}

std::optional<PartPlan> PartPlanner::find(int64_t parts) {
  for (DimAttr dim : dims) {
    if (dim.getSize() % parts)
      continue;
    auto group = findGroup(dim);
    if (failed(group) && isa_and_nonnull<RepeatOp>(obstacle.op))
      group = findHead(dim);
    if (succeeded(group) && group->getSize() % parts == 0)
      return PartPlan{std::move(*group), dim, parts};
  }
  return std::nullopt;
}
