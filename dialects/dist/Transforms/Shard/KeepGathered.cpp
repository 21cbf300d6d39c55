//===- KeepGathered.cpp - Gathered parameters from forward to backward ----===//

#include "dialects/dist/Transforms/RepeatEdit.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTKEEPGATHERED
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::RepeatOp;

namespace {

/// The function's argument that `gather` gathers, in a repeat's body a slice of it; else null.
Value getGathered(AllGatherOp gather, RepeatOp repeat) {
  Value input = gather.getInputs().front();
  if (repeat) {
    auto slices = repeat.getSliceArgs();
    auto *slice = llvm::find(slices, input);
    input = slice == slices.end() ? Value() : repeat.getSlices()[slice - slices.begin()];
  }
  auto argument = dyn_cast_or_null<BlockArgument>(input);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) ? argument : Value();
}

/// Pairs of gathers of one parameter: in the body of `first`, and again in that of `second`.
SmallVector<std::pair<AllGatherOp, AllGatherOp>> findPairs(RepeatOp first, RepeatOp second) {
  SmallVector<std::pair<AllGatherOp, AllGatherOp>> pairs;
  if (first.getDim() != second.getDim())
    return pairs;
  for (auto a : first.getBody().getOps<AllGatherOp>())
    for (auto b : second.getBody().getOps<AllGatherOp>())
      if (Value gathered = getGathered(a, first);
          gathered && gathered == getGathered(b, second) &&
          a.getResultTypes() == b.getResultTypes())
        pairs.push_back({a, b});
  return pairs;
}

/// `second` gets what `first` gathered as a stack.
RepeatOp keep(RepeatOp first, RepeatOp &second) {
  auto pairs = findPairs(first, second);
  if (pairs.empty())
    return first;
  RepeatAdditions stacked, sliced;
  for (auto [made, again] : pairs)
    stacked.stacks.push_back(made.getResults().front());
  first = extend(first, stacked);
  llvm::append_range(sliced.slices, first.getResults().take_back(pairs.size()));
  second = extend(second, sliced);
  for (auto [pair, slice] :
       llvm::zip_equal(pairs, second.getSliceArgs().take_back(pairs.size()))) {
    pair.second.getResults().front().replaceAllUsesWith(slice);
    pair.second.erase();
  }
  return first;
}

void keepGathered(func::FuncOp function) {
  SmallVector<RepeatOp> repeats(function.getBody().getOps<RepeatOp>());
  for (size_t i = 0; i < repeats.size(); ++i)
    for (size_t j = i + 1; j < repeats.size(); ++j)
      repeats[i] = keep(repeats[i], repeats[j]);
}

/// What a function's own block gathered is gathered again behind each repeat, where it is used
/// there.
void gatherAgain(func::FuncOp function) {
  Block &block = function.getBody().front();
  SmallVector<AllGatherOp> gathers;
  for (auto gather : block.getOps<AllGatherOp>())
    if (getGathered(gather, nullptr))
      gathers.push_back(gather);
  for (AllGatherOp gather : gathers) {
    Value value = gather.getResults().front(), now = value;
    bool hasUse = false, crosses = false;
    for (Operation *op = gather->getNextNode(); op; op = op->getNextNode()) {
      bool isUser = llvm::any_of(value.getUsers(), [&](Operation *user) {
        return op->isAncestor(user);
      });
      if (isUser && crosses && hasUse) {
        now = OpBuilder(op).clone(*gather)->getResult(0);
        crosses = false;
      }
      hasUse |= isUser;
      if (isUser && now != value)
        op->walk([&](Operation *user) { user->replaceUsesOfWith(value, now); });
      crosses |= isa<RepeatOp>(op);
    }
  }
}

struct KeepGathered : titan::dist::impl::DistKeepGatheredBase<KeepGathered> {
  void runOnOperation() override {
    auto run = getOperation()->getAttrOfType<DictionaryAttr>(ir::attr::kRun);
    auto setting = run ? run.getAs<DictionaryAttr>("sharding.reshard_after_forward")
                       : DictionaryAttr();
    auto policy = setting ? setting.getAs<StringAttr>("value") : StringAttr();
    if (!policy)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (policy == "never")
        keepGathered(function);
      else if (policy == "always")
        gatherAgain(function);
  }
};

} // namespace
