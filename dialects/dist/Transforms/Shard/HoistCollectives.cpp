// The pass --dist-hoist-collectives.

#include "dialects/dist/Transforms/Shard/InvariantGathers.h"
#include "dialects/dist/Transforms/Shard/MicrobatchLoop.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/dist/Transforms/Shard/SummedReductions.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/Programs.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTHOISTCOLLECTIVES
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::RepeatOp;

namespace {

struct HoistCollectives : titan::dist::impl::DistHoistCollectivesBase<HoistCollectives> {
  using DistHoistCollectivesBase::DistHoistCollectivesBase;

  void runOnOperation() override {
    // Of inner loops first: what leaves one of them is in the body of the outer one.
    SmallVector<RepeatOp> loops;
    getOperation().walk([&](RepeatOp repeat) { loops.push_back(repeat); });
    for (RepeatOp loop : loops)
      if (!isMicrobatchLoop(loop))
        TITAN_COUNT(hoistedGathers, hoistInvariantGathers(loop));
    if (!ir::isTrainProgram(getOperation()))
      return;
    for (RepeatOp loop : loops)
      TITAN_COUNT(sunkReductions, sinkReductions(loop, getSunkScatters(loop)));
    SmallVector<RepeatOp> microbatchLoops(
        llvm::make_filter_range(getOperation().getOps<RepeatOp>(), isMicrobatchLoop));
    for (RepeatOp loop : microbatchLoops)
      moveGathers(loop);
  }

private:
  /// By default, a pipeline communicates stored shards once per step: it has one copy of the
  /// gathered parameters, however many microbatches are in flight.
  bool isOncePerStep(CollectiveTime time) {
    return time == CollectiveTime::Step ||
           (time == CollectiveTime::Auto && PipelineOp::lookup(getOperation()));
  }

  /// In a pipeline, a parameter outside of layers may have terms of its gradient on several stages.
  /// They meet once per step.
  SunkScatters getSunkScatters(RepeatOp loop) {
    if (!isMicrobatchLoop(loop))
      return SunkScatters::None;
    if (isOncePerStep(reduce))
      return SunkScatters::All;
    return PipelineOp::lookup(getOperation()) ? SunkScatters::Unstacked : SunkScatters::None;
  }

  void moveGathers(RepeatOp loop) {
    if (isOncePerStep(gather))
      TITAN_COUNT(hoistedGathers, hoistGathers(loop));
    else
      TITAN_COUNT(sunkGathers, sinkGathers(loop));
  }
};

} // namespace
