// The shard phase, pass by pass.

#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/dist/Transforms/Stages/Passes.h"
#include "dialects/titan/Support/Canonicalize.h"
#include "dialects/titan/Support/RunSettings.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace titan;

/// The policy of the run's `sharding.reshard_after_forward`.
static dist::ReshardPolicy getReshardPolicy(const RunSettings &settings) {
  return llvm::StringSwitch<dist::ReshardPolicy>(
             settings.getString("sharding.reshard_after_forward", "default"))
      .Case("always", dist::ReshardPolicy::Always)
      .Case("never", dist::ReshardPolicy::Never)
      .Default(dist::ReshardPolicy::Default);
}

/// The policy of the run's `sharding.chunk_products`.
static dist::ChunkPolicy getChunkPolicy(const RunSettings &settings) {
  return llvm::StringSwitch<dist::ChunkPolicy>(
             settings.getString("sharding.chunk_products", "never"))
      .Case("auto", dist::ChunkPolicy::Auto)
      .Case("always", dist::ChunkPolicy::Always)
      .Default(dist::ChunkPolicy::Never);
}

/// The time of collectives that the run's setting `path` states.
static dist::CollectiveTime getCollectiveTime(const RunSettings &settings, StringRef path) {
  return llvm::StringSwitch<dist::CollectiveTime>(settings.getString(path, "auto"))
      .Case("step", dist::CollectiveTime::Step)
      .Case("microbatch", dist::CollectiveTime::Microbatch)
      .Default(dist::CollectiveTime::Auto);
}

/// By default, a run that reshards all parameters after the forward pass gathers them in each
/// microbatch.
static dist::CollectiveTime getGatherTime(const RunSettings &settings) {
  const dist::CollectiveTime stated = getCollectiveTime(settings, "sharding.gather");
  const bool isAuto = stated == dist::CollectiveTime::Auto;
  return isAuto && getReshardPolicy(settings) == dist::ReshardPolicy::Always
             ? dist::CollectiveTime::Microbatch
             : stated;
}

void dist::buildShardPhase(OpPassManager &passes, const RunSettings &settings) {
  // On the sizes of the model: padding depends on the chosen dimensions.
  passes.addPass(createDistChooseAttention());
  // Padding precedes all questions of divisibility.
  passes.addPass(createDistPadDimensions());
  // The only pass in which names of dimensions decide.
  passes.addPass(createDistAssignShardings());
  OpPassManager &each = passes.nest<func::FuncOp>();
  // Adjacent passes: inferred types are preferences until reshards are inserted.
  each.addPass(createDistPropagate());
  each.addPass(createDistInsertReshards());
  // These passes need reshards and their uses. A joined reduction is one reduction of its sum.
  each.addPass(createDistJoinReductions());
  each.addPass(createDistWidenReductions());
  each.addPass(createDistNarrowReshards());
  each.addPass(createDistLowerReshards());
  each.addPass(createDistLowerRingAttention());
  // After padding and the moves of casts, which leave expansions and pairs of casts.
  each.addPass(ir::createCanonicalizePass());
  each.addPass(createDistReturnUnreduced());
  // On single collectives of whole programs: fragments are cut where the collectives stand. Before
  // policies on what remains in the loop over microbatches.
  each.addPass(createDistHoistCollectives(
      {getGatherTime(settings), getCollectiveTime(settings, "sharding.reduce")}));
  each.addPass(createDistReshardAfterForward({getReshardPolicy(settings)}));
  // On the collectives of one rank, so that no sharding need be propagated across fragments. Before
  // buckets, which would contain values of several stages.
  passes.addPass(createDistFormFragments());
  OpPassManager &fragments = passes.nest<func::FuncOp>();
  // Before buckets, which carry several values.
  fragments.addPass(createDistChunkProducts({getChunkPolicy(settings)}));
  fragments.addPass(createDistBucketCollectives());
  fragments.addPass(createDistVerify());
}

void dist::registerShardPhase() {
  registerDistShardPasses();
  registerDistStagesPasses();
}
