//===- Pipeline.cpp - The shard phase, pass by pass -----------------------===//

#include "dialects/dist/Transforms/Shard/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace titan;

void dist::buildShardPhase(mlir::OpPassManager &passes) {
  // A dimension that the map pads has its length before anything asks whether it can be split.
  passes.addPass(createDistPadDimensions());
  // What the user declared is the only thing that names of dimensions decide.
  passes.addPass(createDistAssignShardings());
  // Nothing may come between: the types are wishes until reshards make them true.
  passes.addPass(createDistPropagate());
  passes.addPass(createDistInsertReshards());
  // Both need reshards as such: what a reshard adds up or moves, and who uses the result.
  passes.addPass(createDistWidenReductions());
  passes.addPass(createDistNarrowReshards());
  passes.addPass(createDistLowerReshards());
  passes.addPass(createDistReturnUnreduced());
  passes.addPass(createDistReshardAfterForward());
  passes.addPass(createDistBucketCollectives());
  passes.addPass(createDistVerify());
}

void dist::registerShardPhase() {
  registerDistShardPasses();
}
