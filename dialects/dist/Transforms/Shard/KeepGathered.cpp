//===- KeepGathered.cpp - Gathered parameters from forward to backward ----===//

#include "dialects/dist/Support/RepeatEdit.h"
#include "dialects/dist/Transforms/Shard/Passes.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTKEEPGATHERED
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::RepeatOp;

namespace {

/// What a gather gathers: a parameter or a slice of one, and the types that lead from there to its
/// result, as it may be cast.
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

  BlockArgument parameter; ///< null where it is something else
  SmallVector<Type> types;
};

/// One parameter is gathered in a body of one repeat, and again in that of another.
struct Pair {
  AllGatherOp made, again;
  unsigned variant;
};

SmallVector<Pair> findPairs(RepeatOp first, RepeatOp second) {
  SmallVector<Pair> pairs;
  if (first.getDim() != second.getDim() || !(first.getIterations() == second.getIterations()))
    return pairs;
  for (auto [before, after] : llvm::zip_equal(first.getVariants(), second.getVariants()))
    for (auto again : after.getBlock().getOps<AllGatherOp>()) {
      Gathered wanted(again);
      auto gathers = before.getBlock().getOps<AllGatherOp>();
      auto made =
          llvm::find_if(gathers, [&](AllGatherOp each) { return Gathered(each) == wanted; });
      if (wanted.parameter && made != gathers.end())
        pairs.push_back({*made, again, before.getNumber()});
    }
  return pairs;
}

/// `second` gets what `first` gathered as a stack.
void keep(RepeatOp &first, RepeatOp &second) {
  SmallVector<Pair> pairs = findPairs(first, second);
  SmallVector<Value> values;
  for (Pair &pair : pairs)
    values.push_back(pair.made.getResults().front());
  if (pairs.empty())
    return;
  first = addStacks(first, values);
  SmallVector<VariantStack> stacks;
  for (auto [pair, stack] : llvm::zip_equal(pairs, first.getResults().take_back(pairs.size())))
    stacks.push_back({stack, pair.variant});
  unsigned old = second.getSlices().size();
  second = addSlices(second, stacks);
  for (const ir::RepeatVariant &body : second.getVariants())
    for (auto [stack, slice, number] : body.getSlices()) {
      if (number < old)
        continue;
      AllGatherOp again = pairs[number - old].again;
      Operation *convert = again.getInputs().front().getDefiningOp<ir::CastOp>();
      again.getResults().front().replaceAllUsesWith(slice);
      again.erase();
      if (convert && convert->use_empty())
        convert->erase();
    }
}

void keepGathered(Block &block) {
  SmallVector<RepeatOp> repeats(block.getOps<RepeatOp>());
  for (size_t i = 0; i < repeats.size(); ++i)
    for (size_t j = i + 1; j < repeats.size(); ++j)
      keep(repeats[i], repeats[j]);
}

bool usesWithin(Operation *op, Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) { return op->isAncestor(user); });
}

/// A copy of `gather` in front of `before`.
AllGatherOp gatherAgain(AllGatherOp gather, Operation *before) {
  return cast<AllGatherOp>(OpBuilder(before).clone(*gather));
}

/// Behind each repeat, what `gather` gave is gathered again; in a repeat, by its bodies.
void letGo(AllGatherOp gather) {
  Value value = gather.getResults().front();
  AllGatherOp now = gather;
  for (Operation *op = gather->getNextNode(); op; op = op->getNextNode()) {
    if (llvm::is_contained(op->getOperands(), value)) {
      now = now ? now : gatherAgain(gather, op);
      op->replaceUsesOfWith(value, now.getResults().front());
    }
    auto repeat = dyn_cast<RepeatOp>(op);
    if (!repeat)
      continue;
    for (const ir::RepeatVariant &body : repeat.getVariants())
      for (Operation &inner : body.getBlock())
        if (usesWithin(&inner, value)) {
          AllGatherOp own = gatherAgain(gather, &inner);
          value.replaceUsesWithIf(own.getResults().front(), [&](OpOperand &use) {
            return body.getRegion().isAncestor(use.getOwner()->getParentRegion());
          });
          letGo(own);
          break;
        }
    now = {};
  }
  if (gather->use_empty())
    gather.erase();
}

void letGo(Block &block) {
  SmallVector<AllGatherOp> gathers;
  for (auto gather : block.getOps<AllGatherOp>())
    if (Gathered(gather).parameter)
      gathers.push_back(gather);
  for (AllGatherOp gather : gathers)
    letGo(gather);
}

struct KeepGathered : titan::dist::impl::DistKeepGatheredBase<KeepGathered> {
  void runOnOperation() override {
    auto run = getOperation()->getAttrOfType<DictionaryAttr>(ir::attr::kRun);
    auto setting =
        run ? run.getAs<DictionaryAttr>("sharding.reshard_after_forward") : DictionaryAttr();
    auto policy = setting ? setting.getAs<StringAttr>("value") : StringAttr();
    if (!policy)
      return;
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      if (policy == "never")
        keepGathered(*block);
      else if (policy == "always")
        letGo(*block);
  }
};

} // namespace
