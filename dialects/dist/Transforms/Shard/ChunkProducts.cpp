// The pass --dist-chunk-products.

#include "dialects/dist/Analysis/ChunkTime.h"
#include "dialects/dist/Analysis/CollectiveReport.h"
#include "dialects/dist/Support/RepeatEdit.h"
#include "dialects/dist/Transforms/Shard/Chunks.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/PassReport.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTCHUNKPRODUCTS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::getTensorType;
using ir::NamedTensorType;

namespace {

constexpr int64_t kCounts[] = {2, 3, 4}; // of chunks

/// A collective, and the operations that are divided with it along one dimension.
struct Group {
  Operation *collective = nullptr;
  int64_t dim = -1, count = 0;
  llvm::MapVector<Operation *, Factor> members = {}; // in program order
  Operation *before = nullptr;                       // the position of the members' chunks
  double saved = 0;                                  // seconds
};

/// Whether `op` takes time that can hide a message: it computes much for every element.
bool isProduct(Operation *op) {
  constexpr double leastFlops = 32; // per element of the result
  auto cost = dyn_cast<ir::CostOpInterface>(op);
  return cost && op->getNumResults() > 0 && isa<ir::ShardingRuleOpInterface>(op) &&
         cost.getFlops({}) >=
             leastFlops * static_cast<double>(getTensorType(op->getResult(0)).getNumElements());
}

/// The factor of `op` that `has` accepts, if an operation on a chunk of it is the same operation.
std::optional<Factor> findFactor(Operation *op, function_ref<bool(const Factor &)> has) {
  auto rule = dyn_cast<ir::ShardingRuleOpInterface>(op);
  if (!rule)
    return std::nullopt;
  for (const Factor &factor : rule.getShardingRule().factors)
    if (has(factor) && factor.kind == FactorKind::Parallel && !factor.isPositional &&
        llvm::all_of(factor.resultDims, [](int resultDim) { return resultDim >= 0; }))
      return factor;
  return std::nullopt;
}

class Chunker {
public:
  Chunker(ModuleOp module, ChunkPolicy policy) : policy(policy) {
    for (auto mesh : module.getOps<MeshOp>()) {
      known = getDegrees(mesh, 0);
      assumed = getDegrees(mesh, 1);
    }
  }

  /// Divides the collective and its products, or notes why not.
  void run(Operation *collective);

  unsigned numDivided = 0;

private:
  std::string findGroup(Operation *collective, Group &best) const;
  std::string checkTime(const Group &group) const;
  int64_t countElements(NamedTensorType from, NamedTensorType to, int64_t dim) const;
  ChunkSizes measure(const Group &group) const;
  double countBytes(Value value) const;

  void divide(const Group &group);
  void divideGather(const Group &group);
  void divideReduction(const Group &group);
  Value cloneCollective(OpBuilder &builder, const Group &group, Value operand, int64_t index);

  ChunkPolicy policy;
  Degrees known, assumed; // 0 and 1 for the degree `auto`
};

} // namespace

/// The elements of a dimension that a rank has before and after the collective, if their number is
/// known and any set of equally many can be a chunk; else 1.
int64_t Chunker::countElements(NamedTensorType from, NamedTensorType to, int64_t dim) const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (NamedTensorType type : {from, to}) {
    ShardingAttr sharding = type.getShardingOrReplicated();
    const int64_t shards = getDegreeProduct(sharding.getDimAxes()[dim], known);
    if (sharding.getHeadTailAxis(dim) || shards == 0)
      return 1;
    least = std::min(least, type.getDims()[dim].getSize() / shards);
  }
  return least;
}

/// The products that read the gathered value, at one position between their operands and the first
/// use of a result.
static void addReaders(Group &group) {
  Value gathered = group.collective->getResult(0);
  SmallVector<Operation *> readers;
  for (Operation *user : gathered.getUsers())
    if (user->getBlock() == group.collective->getBlock() && isProduct(user) &&
        !llvm::is_contained(readers, user))
      readers.push_back(user);
  llvm::sort(readers, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  Operation *firstUse = nullptr;
  for (Operation *reader : readers) {
    std::optional<Factor> factor = findFactor(reader, [&](const Factor &each) {
      return llvm::all_of(reader->getOpOperands(), [&](OpOperand &operand) {
        return operand.get() != gathered ||
               each.operandDims[operand.getOperandNumber()] == group.dim;
      });
    });
    if (!factor || (firstUse && !reader->isBeforeInBlock(firstUse)))
      continue;
    for (Operation *user : reader->getUsers()) {
      Operation *use = group.collective->getBlock()->findAncestorOpInBlock(*user);
      if (!firstUse || use->isBeforeInBlock(firstUse))
        firstUse = use;
    }
    group.members.insert({reader, *factor});
    group.before = reader;
  }
}

/// The products that compute `value`, and the elementwise operations behind them. Returns whether
/// there are any.
static bool addProducers(Group &group, Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != group.collective->getBlock() || op->getNumResults() != 1 ||
      !value.hasOneUse())
    return false;
  auto factor = findFactor(op, [&](const Factor &each) { return each.resultDims.front() == dim; });
  if (!factor)
    return false;
  bool isMember = isProduct(op);
  if (!isMember && cast<ir::ShardingRuleOpInterface>(op).getShardingRule().isElementwise)
    for (OpOperand &operand : op->getOpOperands())
      if (int64_t operandDim = factor->operandDims[operand.getOperandNumber()]; operandDim >= 0)
        isMember |= addProducers(group, operand.get(), operandDim);
  if (isMember)
    group.members.insert({op, *factor});
  return isMember;
}

/// Finds the dimension and the number of chunks that save most time or, if time does not matter,
/// the largest number. Returns why there are none; empty on success.
std::string Chunker::findGroup(Operation *collective, Group &best) const {
  if (collective->getNumOperands() != 1)
    return "its message carries several values";
  const bool isGather = isa<AllGatherOp>(collective);
  const NamedTensorType from = getTensorType(collective->getOperand(0)),
                        to = getTensorType(collective->getResult(0));
  std::string reason = isGather ? "no product reads the value" : "no product computes the value";
  // Chunks of the innermost dimension would be copied element by element.
  for (int64_t dim = 0; dim + 1 < from.getRank(); ++dim) {
    Group group{collective, dim};
    if (isGather)
      addReaders(group);
    else
      addProducers(group, collective->getOperand(0), dim);
    if (group.members.empty())
      continue;
    reason = "no dimension that the products keep has 2, 3 or 4 equal chunks on a rank";
    const int64_t elements = countElements(from, to, dim);
    const ChunkSizes sizes = measure(group);
    for (int64_t count : kCounts) {
      group.saved = estimateSavedSeconds(sizes, group.count = count);
      const bool isBetter = policy == ChunkPolicy::Always
                                ? count > best.count
                                : best.count == 0 || group.saved > best.saved;
      if (elements % count == 0 && isBetter)
        best = group;
    }
  }
  return best.count > 0 ? "" : reason;
}

double Chunker::countBytes(Value value) const {
  const NamedTensorType type = getTensorType(value);
  const unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  return static_cast<double>(getLocalNumElements(type, assumed)) * bits / 8;
}

ChunkSizes Chunker::measure(const Group &group) const {
  Value from = group.collective->getOperand(0), to = group.collective->getResult(0);
  const bool isGather = isa<AllGatherOp>(group.collective);
  ChunkSizes sizes;
  sizes.bytesSent = static_cast<double>(getBytesSent(group.collective, 0, assumed));
  double copied = countBytes(isGather ? from : to);
  for (const auto &[op, factor] : group.members) {
    sizes.flops += cast<ir::CostOpInterface>(op).getFlops(assumed);
    for (Value result : op->getResults())
      copied += isGather ? countBytes(result) : 0;
    for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), factor.operandDims))
      if (dim >= 0 && operand != to && !group.members.contains(operand.getDefiningOp()))
        copied += countBytes(operand);
  }
  sizes.copiedBytes = 2 * copied;
  return sizes;
}

/// Returns why the chunks would not save time; empty if they do.
std::string Chunker::checkTime(const Group &group) const {
  if (policy == ChunkPolicy::Always || group.saved > 0)
    return "";
  return llvm::formatv("{0} chunks would cost {1:F3} ms", group.count, -1000 * group.saved).str();
}

void Chunker::run(Operation *collective) {
  Group group;
  std::string reason = findGroup(collective, group);
  if (reason.empty())
    reason = checkTime(group);
  TITAN_DEBUG("dist-chunk-products", llvm::errs()
                                         << collective->getLoc() << ": " << reason << '\n');
  if (reason.empty())
    return divide(group);
  collective->setAttr(kWholeAttr, StringAttr::get(collective->getContext(), reason));
}

/// A chunk of a member. `chunks` has those of values; operands without one are sliced.
static Operation *cloneMember(OpBuilder &builder, const Group &group, Operation *op,
                              const Factor &factor, int64_t index, IRMapping &chunks) {
  IRMapping operands;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), factor.operandDims)) {
    if (dim < 0 || operands.contains(operand))
      continue;
    Value chunk = chunks.lookupOrNull(operand);
    operands.map(operand,
                 chunk ? chunk
                       : sliceChunk(builder, op->getLoc(), operand, dim, index, group.count));
  }
  Operation *clone = builder.clone(*op, operands);
  for (auto [whole, result, dim] :
       llvm::zip_equal(op->getResults(), clone->getResults(), factor.resultDims)) {
    result.setType(getChunkType(getTensorType(whole), dim, group.count));
    chunks.map(whole, result);
  }
  return clone;
}

Value Chunker::cloneCollective(OpBuilder &builder, const Group &group, Value operand,
                               int64_t index) {
  IRMapping mapping;
  mapping.map(group.collective->getOperand(0), operand);
  Operation *clone = builder.clone(*group.collective, mapping);
  Value result = clone->getResult(0);
  const NamedTensorType type = getTensorType(group.collective->getResult(0));
  result.setType(getChunkType(type, group.dim, group.count));
  clone->setAttr(kChunkAttr,
                 builder.getStringAttr(llvm::formatv("{0} of {1} of {2}", index + 1, group.count,
                                                     type.getDims()[group.dim].getName().getValue())
                                           .str()));
  return result;
}

void Chunker::divideGather(const Group &group) {
  const Location loc = group.collective->getLoc();
  Value whole = group.collective->getResult(0);
  OpBuilder builder(group.collective);
  SmallVector<Value> gathered;
  for (int64_t k = 0; k < group.count; ++k) {
    Value shard =
        sliceChunk(builder, loc, group.collective->getOperand(0), group.dim, k, group.count);
    gathered.push_back(cloneCollective(builder, group, shard, k));
  }
  SmallVector<std::pair<Value, ChunkJoin>> joins; // by results of members
  for (const auto &[op, factor] : group.members)
    for (auto [result, dim] : llvm::zip_equal(op->getResults(), factor.resultDims))
      joins.emplace_back(result, ChunkJoin(getTensorType(result), dim, group.count));
  builder.setInsertionPoint(group.before);
  for (int64_t k = 0; k < group.count; ++k) {
    IRMapping chunks;
    chunks.map(whole, gathered[k]);
    auto join = joins.begin();
    for (const auto &[op, factor] : group.members)
      for (Value chunk : cloneMember(builder, group, op, factor, k, chunks)->getResults())
        (join++)->second.add(builder, op->getLoc(), chunk);
  }
  for (auto &[result, join] : joins)
    result.replaceAllUsesWith(join.finish(builder, result.getLoc()));
  for (const auto &[op, factor] : group.members)
    op->erase();
  if (whole.use_empty())
    return;
  // Others need the whole value, the first of them at the latest.
  Operation *first = nullptr;
  for (Operation *user : whole.getUsers()) {
    Operation *use = group.collective->getBlock()->findAncestorOpInBlock(*user);
    first = !first || use->isBeforeInBlock(first) ? use : first;
  }
  builder.setInsertionPoint(first);
  ChunkJoin join(getTensorType(whole), group.dim, group.count);
  for (Value chunk : gathered)
    join.add(builder, loc, chunk);
  whole.replaceAllUsesWith(join.finish(builder, loc));
}

void Chunker::divideReduction(const Group &group) {
  const Location loc = group.collective->getLoc();
  OpBuilder builder(group.collective);
  SmallVector<Value> reduced;
  for (int64_t k = 0; k < group.count; ++k) {
    IRMapping chunks;
    for (const auto &[op, factor] : group.members)
      cloneMember(builder, group, op, factor, k, chunks);
    reduced.push_back(
        cloneCollective(builder, group, chunks.lookup(group.collective->getOperand(0)), k));
  }
  // A join waits for its chunk, so it follows all products.
  ChunkJoin join(getTensorType(group.collective->getResult(0)), group.dim, group.count);
  for (Value chunk : reduced)
    join.add(builder, loc, chunk);
  group.collective->getResult(0).replaceAllUsesWith(join.finish(builder, loc));
}

void Chunker::divide(const Group &group) {
  ++numDivided;
  if (isa<AllGatherOp>(group.collective))
    return divideGather(group), group.collective->erase();
  divideReduction(group);
  group.collective->erase();
  for (const auto &[op, factor] : llvm::reverse(group.members))
    op->erase();
}

/// Whether the collective moves activations: parameters are prefetched, and stacks of flat storage
/// communicate slot by slot.
static bool movesActivations(Operation *op) {
  if (!isa<AllGatherOp, ReduceScatterOp, AllReduceOp>(op))
    return false;
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return llvm::none_of(types,
                       [](Type type) {
                         return cast<NamedTensorType>(type).getShardingOrReplicated().isFlat();
                       }) &&
         llvm::none_of(op->getOperands(), getParameter);
}

namespace {
struct ChunkProducts : titan::dist::impl::DistChunkProductsBase<ChunkProducts> {
  using DistChunkProductsBase::DistChunkProductsBase;

  void runOnOperation() override {
    if (policy == ChunkPolicy::Never)
      return;
    SmallVector<Operation *> collectives;
    getOperation().walk([&](Operation *op) {
      if (movesActivations(op))
        collectives.push_back(op);
    });
    Chunker chunker(getOperation()->getParentOfType<ModuleOp>(), policy);
    for (Operation *collective : collectives)
      chunker.run(collective);
    TITAN_COUNT(dividedCollectives, chunker.numDivided);
  }
};
} // namespace
