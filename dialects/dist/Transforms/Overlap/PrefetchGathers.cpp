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

/// The stack of which `value` is the slice that `repeat` gives its body, if it is a parameter; else
/// null.
Value getStackedParameter(Value value, RepeatOp repeat) {
  for (auto [slice, stack] : llvm::zip_equal(repeat.getSliceArgs(), repeat.getSlices()))
    if (slice == value) {
      auto argument = dyn_cast<BlockArgument>(stack);
      auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                               : func::FuncOp();
      bool isParameter =
          function && function.getArgAttr(argument.getArgNumber(), ir::attr::kParam);
      return isParameter ? stack : Value();
    }
  return nullptr;
}

bool canPrefetch(AllGatherOp gather, RepeatOp repeat) {
  return !gather.getChannel() && llvm::all_of(gather.getInputs(), [&](Value input) {
    return getStackedParameter(input, repeat) != nullptr;
  });
}

/// Starts `gather` on layers of the stacks: at `offset`, or at `index` + `offset`.
AllGatherOp start(OpBuilder &builder, AllGatherOp gather, RepeatOp repeat, int64_t channel,
                  Value index, int64_t offset) {
  SmallVector<Value> layers;
  for (auto [i, input] : llvm::enumerate(gather.getInputs()))
    layers.push_back(builder.create<LayerOp>(
        getValueLocation(cast<OpResult>(gather.getResults()[i])), input.getType(),
        getStackedParameter(input, repeat), index, offset));
  return builder.create<AllGatherOp>(gather.getLoc(), gather.getResultTypes(), layers,
                                     gather.getAxes(), builder.getI64IntegerAttr(channel));
}

void prefetch(RepeatOp repeat, int64_t &channel) {
  SmallVector<AllGatherOp> gathers;
  for (auto gather : repeat.getBody().front().getOps<AllGatherOp>())
    if (canPrefetch(gather, repeat))
      gathers.push_back(gather);
  int64_t step = repeat.getReverse() ? -1 : 1, last = repeat.getDim().getSize() - 1;
  if (gathers.empty() || last == 0)
    return;
  OpBuilder builder(repeat);
  SmallVector<Value> inits;
  int64_t first = channel;
  for (AllGatherOp gather : gathers)
    llvm::append_range(inits, start(builder, gather, repeat, channel++, nullptr,
                                    repeat.getReverse() ? last : 0)
                                  .getResults());
  unsigned at = repeat.getNumCarried();
  repeat = extend(repeat, {inits, {}, {}});
  for (AllGatherOp gather : gathers) {
    builder.setInsertionPoint(gather);
    SmallVector<Value> flights(
        repeat.getCarriedArgs().slice(at, gather.getNumResults()));
    auto wait = builder.create<WaitOp>(gather.getLoc(), gather.getResultTypes(), first, flights,
                                       ValueRange());
    AllGatherOp next = start(builder, gather, repeat, first++, repeat.getIndex(), step);
    for (Value flight : next.getResults())
      repeat.getYield()->setOperand(at++, flight);
    gather.replaceAllUsesWith(wait.getResults());
    gather.erase();
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
