// Chooses the dimension and the number of chunks of a chunked loss.

#include "dialects/titan/Transforms/Gradient/ChunkPlan.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Support/Programs.h"
#include "mlir/IR/BuiltinOps.h"
#include <numeric>

using namespace mlir;
using namespace titan;
using namespace titan::ir;

ChunkPlanner::ChunkPlanner(func::FuncOp function, Microbatches microbatches)
    : function(function), microbatches(microbatches) {
  auto module = function->getParentOfType<ModuleOp>();
  dist::MeshOp mesh = dist::MeshOp::lookup(function);
  for (auto rules : module.getOps<dist::AxisRulesOp>())
    axes.push_back({llvm::to_vector(rules.getShards().getAsRange<StringAttr>()),
                    mesh.getDegree(rules.getAxisAttr())});
  findCandidates();
}

/// The elements of a microbatch on one rank: an axis shards the first dimension in its list. For an
/// axis of degree `auto` the estimate assumes a shard of size one.
int64_t ChunkPlanner::getNumElements(Value value) const {
  auto type = cast<NamedTensorType>(value.getType());
  SmallVector<int64_t> sizes(type.getShape());
  for (const Axis &axis : axes)
    for (StringAttr name : axis.shards)
      if (int64_t at = type.findDimIndex(name); at >= 0) {
        sizes[at] = axis.degree == 0 ? 1 : std::max<int64_t>(1, sizes[at] / axis.degree);
        break;
      }
  if (int64_t at = microbatches.dim ? type.findDimIndex(microbatches.dim) : -1; at >= 0)
    sizes[at] = std::max<int64_t>(1, sizes[at] / microbatches.count);
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

int64_t ChunkPlanner::getBytes(Value value) const {
  Type element = cast<NamedTensorType>(value.getType()).getElementType();
  return getNumElements(value) * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// Whether chunks may slice `dim`. Dimensions of parameters stay whole; dimensions that axes shard
/// or microbatches slice are divided already.
bool ChunkPlanner::mayChunk(DimAttr dim) {
  auto isParameters = [&](BlockArgument argument) {
    return function.getArgAttr(argument.getArgNumber(), attr::kParam) &&
           cast<NamedTensorType>(argument.getType()).hasDim(dim.getName());
  };
  auto isSharded = [&](const Axis &axis) { return llvm::is_contained(axis.shards, dim.getName()); };
  return dim.getName() != microbatches.dim && llvm::none_of(axes, isSharded) &&
         llvm::none_of(function.getArguments(), isParameters);
}

/// Finds the candidates: the dimensions that may be sliced, of the largest value with such a
/// dimension.
void ChunkPlanner::findCandidates() {
  int64_t largest = 0;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (op.getNumRegions())
      continue;
    for (Value result : op.getResults()) {
      auto candidates =
          llvm::to_vector(llvm::make_filter_range(cast<NamedTensorType>(result.getType()).getDims(),
                                                  [&](DimAttr dim) { return mayChunk(dim); }));
      if (candidates.empty() || getNumElements(result) <= largest)
        continue;
      largest = getNumElements(result);
      dims = std::move(candidates);
    }
  }
}

/// The least divisor of `size` that divides `bytes` into chunks of at most `most` bytes; `size` if
/// there is none.
static int64_t countChunks(int64_t size, int64_t bytes, int64_t most) {
  int64_t chunks = 1;
  while (chunks < size && (size % chunks || bytes / chunks > most))
    ++chunks;
  return chunks;
}

/// Whether the fuse phase will probably evaluate the operation row by row, without its result in
/// memory.
static bool willBeFused(Operation *op) {
  return isRowFusable(op);
}

/// A chunk is half as large as the largest sum over the chunks. Smaller chunks save little, and
/// each one moves the sum through memory. Up to 128 MiB a chunk is as large as the sum: products
/// with few rows are slow, since each packs the other operand.
int64_t ChunkPlanner::chooseNumChunks(const ChunkGroup &group, int64_t minChunkBytes) const {
  int64_t largest = 0, sum = 0;
  for (Operation *op : group.getOps())
    for (Value result : op->getResults())
      if (group.getDependence(result).kind == Dependence::Sliced && !willBeFused(op))
        largest = std::max(largest, getBytes(result));
  for (Value value : group.getSums())
    sum = std::max(sum, getBytes(value));
  if (largest <= minChunkBytes)
    return 1;
  constexpr int64_t large = int64_t{128} << 20;
  const int64_t most = std::max({minChunkBytes, sum / 2, std::min(sum, large)});
  return countChunks(group.getChunkableSize(), largest, most);
}

FailureOr<ChunkGroup> ChunkPlanner::findGroup(DimAttr dim) {
  ChunkGroup::Obstacle here;
  auto group = ChunkGroup::find(
      function.getBody().front(), dim.getName(), [&](Value value) { return getNumElements(value); },
      here);
  if (failed(group) && !obstacle.op)
    obstacle = here;
  return group;
}

std::optional<ChunkPlan> ChunkPlanner::choose(int64_t minChunkBytes) {
  std::optional<ChunkPlan> best;
  for (DimAttr dim : dims) {
    auto group = findGroup(dim);
    int64_t chunks = succeeded(group) ? chooseNumChunks(*group, minChunkBytes) : 1;
    if (chunks > (best ? best->chunks : 1))
      best = ChunkPlan{std::move(*group), dim, chunks};
  }
  return best;
}

/// Adds the producers that `ops` depend on.
static void addNeeded(Block &block, llvm::DenseSet<Operation *> &ops) {
  for (Operation &op : llvm::reverse(block))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          return ops.contains(block.findAncestorOpInBlock(*user));
        }))
      ops.insert(&op);
}

/// Adds the users of `ops`, direct and indirect.
static void addDependent(Block &block, llvm::DenseSet<Operation *> &ops) {
  for (Operation &op : block)
    op.walk([&](Operation *inner) {
      if (llvm::any_of(inner->getOperands(),
                       [&](Value value) { return ops.contains(value.getDefiningOp()); }))
        ops.insert(&op);
    });
}

/// The operations between the repeats that the loss depends on and the repeats that compute
/// gradients.
static llvm::DenseSet<Operation *> getHead(func::FuncOp function) {
  Block &block = function.getBody().front();
  llvm::DenseSet<Operation *> forward, before, after, head;
  if (auto loss = findResult(function, attr::kOutput, "loss"))
    forward.insert(block.getTerminator()->getOperand(*loss).getDefiningOp());
  addNeeded(block, forward);
  for (auto repeat : block.getOps<RepeatOp>())
    (forward.contains(repeat) ? before : after).insert(repeat);
  addNeeded(block, before);
  addDependent(block, after);
  for (Operation &op : block.without_terminator())
    if (!before.contains(&op) && !after.contains(&op))
      head.insert(&op);
  return head;
}

/// If other values of the block are as large as the logits, the group of all large values contains
/// repeats. The head alone saves less memory, so the planner tries it only if the user asks for
/// chunks.
FailureOr<ChunkGroup> ChunkPlanner::findHead(DimAttr dim) {
  ChunkGroup::Obstacle here;
  auto group = ChunkGroup::findIn(
      getHead(function), function.getBody().front(), dim.getName(),
      [&](Value value) { return getNumElements(value); }, here);
  obstacle = here;
  return group;
}

std::optional<ChunkPlan> ChunkPlanner::find(int64_t chunks) {
  for (DimAttr dim : dims) {
    if (dim.getSize() % chunks)
      continue;
    auto group = findGroup(dim);
    if (failed(group) && isa_and_nonnull<RepeatOp>(obstacle.op))
      group = findHead(dim);
    if (succeeded(group) && group->getChunkableSize() % chunks == 0)
      return ChunkPlan{std::move(*group), dim, chunks};
  }
  return std::nullopt;
}
