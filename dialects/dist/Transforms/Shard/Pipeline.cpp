//===- Pipeline.cpp - The shard phase, pass by pass -----------------------===//

#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/Support/Canonicalize.h"
#include "mlir/Pass/PassManager.h"

using namespace titan;

void dist::buildShardPhase(mlir::OpPassManager &passes) {
  // Padding precedes all questions of divisibility.
  passes.addPass(createDistPadDimensions());
  // The only pass in which names of dimensions decide.
  passes.addPass(createDistAssignShardings());
  // Adjacent passes: inferred types are preferences until reshards are inserted.
  passes.addPass(createDistPropagate());
  passes.addPass(createDistInsertReshards());
  // Both passes need reshards and their uses.
  passes.addPass(createDistWidenReductions());
  passes.addPass(createDistNarrowReshards());
  passes.addPass(createDistLowerReshards());
  // After padding and the moves of casts, which leave expansions and pairs of casts.
  passes.addPass(ir::createCanonicalizePass());
  passes.addPass(createDistReturnUnreduced());
  passes.addPass(createDistReshardAfterForward());
  passes.addPass(createDistBucketCollectives());
  passes.addPass(createDistVerify());
}

void dist::registerShardPhase() {
  registerDistShardPasses();
}
