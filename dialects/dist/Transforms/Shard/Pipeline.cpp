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
  // Both passes need reshards and their uses.
  each.addPass(createDistWidenReductions());
  each.addPass(createDistNarrowReshards());
  each.addPass(createDistLowerReshards());
  each.addPass(createDistLowerRingAttention());
  // After padding and the moves of casts, which leave expansions and pairs of casts.
  each.addPass(ir::createCanonicalizePass());
  each.addPass(createDistReturnUnreduced());
  each.addPass(createDistReshardAfterForward({getReshardPolicy(settings)}));
  // On the collectives of one rank, so that no sharding need be propagated across fragments. Before
  // buckets, which would contain values of several stages.
  passes.addPass(createDistFormFragments());
  OpPassManager &fragments = passes.nest<func::FuncOp>();
  fragments.addPass(createDistBucketCollectives());
  fragments.addPass(createDistVerify());
}

void dist::registerShardPhase() {
  registerDistShardPasses();
  registerDistStagesPasses();
}
