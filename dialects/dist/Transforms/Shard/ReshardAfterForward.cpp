// The pass --dist-reshard-after-forward.

#include "dialects/dist/Support/RepeatEdit.h"
#include "dialects/dist/Transforms/Shard/Passes.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTRESHARDAFTERFORWARD
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::RepeatOp;

namespace {

/// The source of a gather: a parameter or a slot of one, and the types on the path through casts
/// from it to the result.
struct Gathered {
  explicit Gathered(AllGatherOp gather) : types{gather.getResultTypes().front()} {
    Value input = gather.getInputs().front();
    for (auto cast = input.getDefiningOp<ir::CastOp>(); cast;
         cast = input.getDefiningOp<ir::CastOp>()) {
      types.push_back(input.getType());
      input = cast.getOperand();
    }
    types.push_back(input.getType());
    parameter = getParameter(input);
  }
  bool operator==(const Gathered &) const = default;

  BlockArgument parameter; ///< null for any other source
  SmallVector<Type> types;
};

/// Gathers of one parameter in bodies of two repeats.
struct GatherPair {
  AllGatherOp forward, backward;
  unsigned variant;
};

SmallVector<GatherPair> findPairs(RepeatOp first, RepeatOp second) {
  SmallVector<GatherPair> pairs;
  if (first.getDim() != second.getDim() || !(first.getIterations() == second.getIterations()))
    return pairs;
  for (auto [before, after] : llvm::zip_equal(first.getVariants(), second.getVariants()))
    for (auto backward : after.getBlock().getOps<AllGatherOp>()) {
      Gathered wanted(backward);
      auto gathers = before.getBlock().getOps<AllGatherOp>();
      auto forward =
          llvm::find_if(gathers, [&](AllGatherOp each) { return Gathered(each) == wanted; });
      if (wanted.parameter && forward != gathers.end())
        pairs.push_back({*forward, backward, before.getNumber()});
    }
  return pairs;
}

/// Lets `second` scan the stacked gathers of `first`.
void stackGathered(RepeatOp &first, RepeatOp &second) {
  SmallVector<GatherPair> pairs = findPairs(first, second);
  SmallVector<Value> values;
  for (GatherPair &pair : pairs)
    values.push_back(pair.forward.getResults().front());
  if (pairs.empty())
    return;
  first = addStackedOutputs(first, values);
  SmallVector<VariantStack> stacks;
  for (auto [pair, stack] : llvm::zip_equal(pairs, first.getResults().take_back(pairs.size())))
    stacks.push_back({stack, {pair.variant}});
  unsigned numBefore = second.getScannedInputs().size();
  second = addScannedInputs(second, stacks);
  for (const ir::RepeatVariant &body : second.getVariants())
    for (auto [stack, slice, number] : body.getScannedInputs()) {
      if (number < numBefore)
        continue;
      AllGatherOp backward = pairs[number - numBefore].backward;
      Operation *convert = backward.getInputs().front().getDefiningOp<ir::CastOp>();
      backward.getResults().front().replaceAllUsesWith(slice);
      backward.erase();
      if (convert && convert->use_empty())
        convert->erase();
    }
}

void stackGathered(Block &block) {
  SmallVector<RepeatOp> repeats(block.getOps<RepeatOp>());
  for (size_t i = 0; i < repeats.size(); ++i)
    for (size_t j = i + 1; j < repeats.size(); ++j)
      stackGathered(repeats[i], repeats[j]);
}

bool usesWithin(Operation *op, Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) { return op->isAncestor(user); });
}

/// A copy of `gather` before `before`.
AllGatherOp cloneGather(AllGatherOp gather, Operation *before) {
  return cast<AllGatherOp>(OpBuilder(before).clone(*gather));
}

/// Gathers again after each repeat, and inside the bodies of each repeat that use the value.
void regather(AllGatherOp gather) {
  Value value = gather.getResults().front();
  AllGatherOp current = gather;
  for (Operation *op = gather->getNextNode(); op; op = op->getNextNode()) {
    if (llvm::is_contained(op->getOperands(), value)) {
      current = current ? current : cloneGather(gather, op);
      op->replaceUsesOfWith(value, current.getResults().front());
    }
    auto repeat = dyn_cast<RepeatOp>(op);
    if (!repeat)
      continue;
    for (const ir::RepeatVariant &body : repeat.getVariants())
      for (Operation &inner : body.getBlock())
        if (usesWithin(&inner, value)) {
          AllGatherOp own = cloneGather(gather, &inner);
          value.replaceUsesWithIf(own.getResults().front(), [&](OpOperand &use) {
            return body.getRegion().isAncestor(use.getOwner()->getParentRegion());
          });
          regather(own);
          break;
        }
    current = {};
  }
  if (gather->use_empty())
    gather.erase();
}

void regather(Block &block) {
  SmallVector<AllGatherOp> gathers;
  for (auto gather : block.getOps<AllGatherOp>())
    if (Gathered(gather).parameter)
      gathers.push_back(gather);
  for (AllGatherOp gather : gathers)
    regather(gather);
}

struct ReshardAfterForward : titan::dist::impl::DistReshardAfterForwardBase<ReshardAfterForward> {
  using DistReshardAfterForwardBase::DistReshardAfterForwardBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    // What the forward pass of a stage stacks is stashed once per microbatch in flight.
    const bool isInPipeline = static_cast<bool>(PipelineOp::lookup(getOperation()));
    for (Block *block : blocks)
      if (policy == ReshardPolicy::Never && !isInPipeline)
        stackGathered(*block);
      else if (policy == ReshardPolicy::Always)
        regather(*block);
  }
};

} // namespace
