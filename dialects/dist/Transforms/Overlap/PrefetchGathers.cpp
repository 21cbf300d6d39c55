//===- PrefetchGathers.cpp - The next layer's parameters come early -------===//

#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "dialects/dist/Transforms/RepeatEdit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTPREFETCHGATHERS
#include "dialects/dist/Transforms/Overlap/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::RepeatOp;

namespace {

/// A gather that all bodies of a repeat do, of the same parameters: one operation of each body.
using Gathers = SmallVector<AllGatherOp, 2>;

/// The stacks of parameters of which the operands of `gather` are this iteration's slices; none where
/// an operand is anything else, or where not every iteration has a slice.
SmallVector<Value> getStacks(AllGatherOp gather, const ir::RepeatVariant &body) {
  SmallVector<ir::RepeatVariant::Slice> slices = body.getSlices();
  SmallVector<Value> stacks;
  for (Value input : gather.getInputs()) {
    auto *slice = llvm::find_if(slices, [&](const auto &each) { return each.slice == input; });
    RepeatOp repeat = body.getRepeat();
    if (slice == slices.end() || !getParameter(slice->stack) ||
        repeat.getSliceUsers(slice->number).size() != repeat.getNumVariants())
      return {};
    stacks.push_back(slice->stack);
  }
  return stacks;
}

SmallVector<Gathers> findGathers(RepeatOp repeat) {
  SmallVector<Gathers> found;
  DenseSet<Operation *> taken;
  for (auto gather : repeat.getVariant(0).getBlock().getOps<AllGatherOp>()) {
    SmallVector<Value> stacks = getStacks(gather, repeat.getVariant(0));
    Gathers gathers;
    for (const ir::RepeatVariant &body : repeat.getVariants())
      for (auto other : body.getBlock().getOps<AllGatherOp>())
        if (gathers.size() == body.getNumber() && !taken.contains(other) && !other.getChannel() &&
            other.getAxes() == gather.getAxes() &&
            other.getResultTypes() == gather.getResultTypes() && getStacks(other, body) == stacks)
          gathers.push_back(other);
    if (stacks.empty() || gathers.size() != repeat.getNumVariants())
      continue;
    taken.insert(gathers.begin(), gathers.end());
    found.push_back(std::move(gathers));
  }
  return found;
}

/// Starts `gather` on layers of the stacks: at `offset`, or at `index` + `offset`.
AllGatherOp start(OpBuilder &builder, AllGatherOp gather, int64_t channel, Value index,
                  int64_t offset) {
  SmallVector<Value> layers,
      stacks = getStacks(gather, *ir::findVariant(gather->getBlock()));
  for (auto [result, stack, input] :
       llvm::zip_equal(gather->getResults(), stacks, gather.getInputs()))
    layers.push_back(builder.create<LayerOp>(getValueLocation(result), input.getType(), stack,
                                             index, offset));
  return builder.create<AllGatherOp>(gather.getLoc(), gather.getResultTypes(), layers,
                                     gather.getAxes(), builder.getI64IntegerAttr(channel));
}

/// Replaces `gather` by the wait for what is carried in flight from `at` on, and starts the next.
void waitAndStartNext(AllGatherOp gather, int64_t channel, unsigned at) {
  ir::RepeatVariant body = *ir::findVariant(gather->getBlock());
  OpBuilder builder(gather);
  SmallVector<Value> flights(body.getCarriedArgs().slice(at, gather.getNumResults()));
  auto wait = builder.create<WaitOp>(gather.getLoc(), gather.getResultTypes(), channel, flights,
                                     ValueRange());
  AllGatherOp next = start(builder, gather, channel, body.getIndex(),
                           body.getRepeat().getReverse() ? -1 : 1);
  for (Value flight : next.getResults())
    body.getYield()->setOperand(at++, flight);
  gather.replaceAllUsesWith(wait.getResults());
  gather.erase();
}

void prefetch(RepeatOp repeat, int64_t &channel) {
  SmallVector<Gathers> found = findGathers(repeat);
  int64_t last = repeat.getDim().getSize() - 1;
  if (found.empty() || last == 0)
    return;
  OpBuilder builder(repeat);
  SmallVector<Value> inits;
  for (auto [i, gathers] : llvm::enumerate(found))
    llvm::append_range(inits, start(builder, gathers.front(), channel + i, nullptr,
                                    repeat.getReverse() ? last : 0)
                                  .getResults());
  unsigned at = repeat.getNumCarried();
  addCarried(repeat, inits);
  for (const Gathers &gathers : found) {
    unsigned values = AllGatherOp(gathers.front()).getNumResults();
    for (AllGatherOp gather : gathers)
      waitAndStartNext(gather, channel, at);
    at += values;
    ++channel;
  }
}

struct PrefetchGathers : titan::dist::impl::DistPrefetchGathersBase<PrefetchGathers> {
  void runOnOperation() override {
    if (!wantsOverlap(getOperation()))
      return;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      int64_t channel = getFreeChannel(function);
      SmallVector<RepeatOp> repeats;
      function.walk([&](RepeatOp repeat) { repeats.push_back(repeat); });
      for (RepeatOp repeat : repeats)
        prefetch(repeat, channel);
    }
  }
};

} // namespace
