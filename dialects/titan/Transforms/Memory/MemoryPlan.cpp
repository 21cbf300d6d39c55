// Queries of a memory plan.

#include "dialects/titan/Transforms/Memory/MemoryPlan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

AllocRefAttr memory::getAllocRef(Value value) {
  ArrayAttr refs;
  unsigned index = 0;
  if (auto result = dyn_cast<OpResult>(value)) {
    refs = result.getOwner()->getAttrOfType<ArrayAttr>(kResultAllocs);
    index = result.getResultNumber();
  } else {
    auto argument = cast<BlockArgument>(value);
    Region *body = argument.getParentRegion();
    refs = body->getParentOp()->getAttrOfType<ArrayAttr>(kArgumentAllocs);
    index = argument.getArgNumber();
    for (Region &earlier : body->getParentOp()->getRegions().take_front(body->getRegionNumber()))
      index += earlier.getNumArguments();
  }
  return refs && index < refs.size() ? dyn_cast<AllocRefAttr>(refs[index]) : AllocRefAttr();
}

/// Whether `user` is emitted as a loop nest over its result, which reads operands one element at a
/// time.
static bool readsElements(Operation *user) {
  auto scatter = dyn_cast<ScatterOp>(user);
  return user->hasTrait<Elementwise>() || isa<GatherOp, SliceOp, PadOp>(user) ||
         (scatter && scatter.isOneHot());
}

bool memory::isInline(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isNullary(op) && llvm::all_of(value.getUsers(), readsElements);
}
