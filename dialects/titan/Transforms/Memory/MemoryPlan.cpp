//===- MemoryPlan.cpp - Queries of a plan ---------------------------------===//

#include "dialects/titan/Transforms/Memory/MemoryPlan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

PlaceAttr memory::getPlace(Value value) {
  ArrayAttr places;
  unsigned index = 0;
  if (auto result = dyn_cast<OpResult>(value)) {
    places = result.getOwner()->getAttrOfType<ArrayAttr>(kPlaces);
    index = result.getResultNumber();
  } else {
    auto argument = cast<BlockArgument>(value);
    Region *body = argument.getParentRegion();
    places = body->getParentOp()->getAttrOfType<ArrayAttr>(kArguments);
    index = argument.getArgNumber();
    for (Region &earlier : body->getParentOp()->getRegions().take_front(body->getRegionNumber()))
      index += earlier.getNumArguments();
  }
  return places && index < places.size() ? dyn_cast<PlaceAttr>(places[index]) : PlaceAttr();
}

/// Whether `user` is emitted as a loop nest over its result, which reads operands one element at a
/// time.
static bool readsElements(Operation *user) {
  auto put = dyn_cast<PutOp>(user);
  return user->hasTrait<Elementwise>() || isa<TakeOp, SliceOp, PadOp>(user) ||
         (put && put.isOneHot());
}

bool memory::isInline(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<ConstantOp, IotaOp>(op) && llvm::all_of(value.getUsers(), readsElements);
}
