// The pass --dist-bucket-collectives.

#include "dialects/dist/Analysis/Buckets.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/dist/Transforms/Shard/CollectiveMotion.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/PassReport.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTBUCKETCOLLECTIVES
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::getTensorType;
using ir::NamedTensorType;

namespace {

/// Collectives with equal keys can be coalesced: operation, axes, element type and reduction kind.
using Key = std::tuple<OperationName, Attribute, Type, ReductionKind>;

class Bucketer {
public:
  /// A bucket has at most `bucketBytes`. Reductions of a block are split into two messages from
  /// `minSplitBytes` on.
  Bucketer(Block &block, const Degrees &degrees, int64_t bucketBytes, int64_t minSplitBytes)
      : block(block), degrees(degrees), bucketBytes(bucketBytes), minSplitBytes(minSplitBytes) {}

  void run() {
    SmallVector<Key> keys;
    for (Operation &op : block)
      if (std::optional<Key> key = getKey(&op); key && !llvm::is_contained(keys, *key))
        keys.push_back(*key);
    for (const Key &key : keys)
      merge(key);
  }

  unsigned numBuckets = 0, numMerged = 0;

private:
  /// None for operations that are not coalesced, such as collectives of stacked flat storage, which
  /// run slot by slot, and chunks, which run one by one.
  static std::optional<Key> getKey(Operation *op) {
    if (!isa<AllGatherOp, ReduceScatterOp, AllReduceOp>(op) || getStartChannel(op) ||
        op->hasAttr(kChunkAttr))
      return std::nullopt;
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Type type : types)
      if (cast<NamedTensorType>(type).getShardingOrReplicated().getFlatFrom() > 0)
        return std::nullopt;
    NamedTensorType type = getTensorType(op->getOperand(0));
    return Key(op->getName(), op->getAttr("axes"), type.getElementType(),
               type.getShardingOrReplicated().getPartialKind());
  }

  /// The bytes of the larger of operand and result, of all values of `op` together.
  int64_t getBytes(Operation *op) const {
    int64_t sum = 0;
    for (auto [from, to] : llvm::zip_equal(op->getOperands(), op->getResults()))
      sum += std::max(getLocalNumElements(getTensorType(from), degrees),
                      getLocalNumElements(getTensorType(to), degrees)) *
             llvm::divideCeil(getTensorType(from).getElementType().getIntOrFloatBitWidth(), 8);
    return sum;
  }

  /// Numbers the operations of the block.
  void number() {
    operations.clear();
    positions.clear();
    int64_t begin = 0;
    segments.clear();
    for (Operation &op : block) {
      positions[&op] = operations.size();
      operations.push_back(&op);
      if (op.getNumRegions() > 0)
        begin = operations.size();
      segments.push_back(begin);
    }
  }

  /// The candidate's range ends at repeats. A value that is gathered before or reduced after a
  /// repeat would live through all iterations.
  BucketCandidate describe(Operation *op) const {
    int64_t at = positions.lookup(op), earliest = segments[at], latest = at;
    while (latest + 1 < static_cast<int64_t>(operations.size()) &&
           operations[latest]->getNumRegions() == 0)
      ++latest;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == &block)
        earliest = std::max(earliest, positions.lookup(producer) + 1);
    for (Operation *user : op->getUsers()) {
      latest = std::min(latest, positions.lookup(block.findAncestorOpInBlock(*user)));
      if (getKey(user) == getKey(op)) // a bucket does not read its own results
        latest = at;
    }
    return {earliest, latest, getBytes(op)};
  }

  void merge(const Key &key) {
    number();
    SmallVector<Operation *> ops;
    std::vector<BucketCandidate> candidates;
    for (Operation *op : operations)
      if (getKey(op) == key) {
        ops.push_back(op);
        candidates.push_back(describe(op));
      }
    SmallVector<Operation *> merged; // erased at the end, since `operations` refers to them
    // Gathers run as late as possible, reductions as early as possible.
    bool isGather = std::get<OperationName>(key).getStringRef() == AllGatherOp::getOperationName();
    int64_t limit =
        isGather ? bucketBytes : getOverlapLimit(candidates, bucketBytes, minSplitBytes);
    for (const Bucket &bucket : chooseBuckets(candidates, limit)) {
      if (bucket.members.size() < 2)
        continue;
      SmallVector<Operation *> members;
      for (size_t member : bucket.members)
        members.push_back(ops[member]);
      TITAN_DEBUG("dist-bucket-collectives", print(members, candidates, bucket));
      ++numBuckets;
      numMerged += members.size();
      create(members, operations[isGather ? bucket.latest : bucket.earliest]);
      llvm::append_range(merged, members);
    }
    for (Operation *op : merged)
      op->erase();
  }

  static void print(ArrayRef<Operation *> members, const std::vector<BucketCandidate> &candidates,
                    const Bucket &bucket) {
    int64_t bytes = 0;
    for (size_t member : bucket.members)
      bytes += candidates[member].bytes;
    llvm::errs() << "bucket of " << members.size() << ' ' << members.front()->getName() << ", "
                 << bytes << " bytes, at positions " << bucket.earliest << " to " << bucket.latest
                 << '\n';
  }

  /// Coalesces `members` before `before`.
  static void create(ArrayRef<Operation *> members, Operation *before) {
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    SmallVector<Location> locations;
    for (Operation *member : members) {
      llvm::append_range(inputs, member->getOperands());
      llvm::append_range(types, member->getResultTypes());
      locations.push_back(member->getLoc());
    }
    MLIRContext *context = before->getContext();
    OperationState state(FusedLoc::get(locations, Attribute(), context),
                         members.front()->getName());
    state.addOperands(inputs);
    state.addTypes(types);
    state.addAttributes(members.front()->getAttrs());
    Operation *bucket = OpBuilder(before).create(state);
    auto results = bucket->getResults();
    for (Operation *member : members) {
      member->replaceAllUsesWith(results.take_front(member->getNumResults()));
      results = results.drop_front(member->getNumResults());
    }
  }

  Block &block;
  const Degrees &degrees;
  int64_t bucketBytes, minSplitBytes;
  SmallVector<Operation *> operations; ///< by position
  SmallVector<int64_t> segments;       ///< by position, the first one after the last repeat
  DenseMap<Operation *, int64_t> positions;
};

struct BucketCollectives : titan::dist::impl::DistBucketCollectivesBase<BucketCollectives> {
  using DistBucketCollectivesBase::DistBucketCollectivesBase;

  void runOnOperation() override {
    Degrees degrees = getDegrees(MeshOp::lookup(getOperation()));
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks) {
      moveCastsFromCollectives(*block);
      Bucketer bucketer(*block, degrees, bucketBytes, minSplitBytes);
      bucketer.run();
      TITAN_COUNT(buckets, bucketer.numBuckets);
      TITAN_COUNT(mergedCollectives, bucketer.numMerged);
      moveCastsToCollectives(*block);
    }
  }
};

} // namespace
