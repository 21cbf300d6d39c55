// The repeat as a loop and as a region branch.
//
// Upstream passes and dataflow analyses see the order of the bodies and the values that these
// forward. The slots of scanned inputs and stacked outputs are not forwarded, like the induction
// variable of scf.for: their values differ from iteration to iteration.

#include "dialects/titan/IR/Titan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

SmallVector<Region *> RepeatOp::getLoopRegions() {
  return llvm::map_to_vector(getBodies(), [](Region &body) { return &body; });
}

/// The variants in the order of execution. A repeat without a table may have very many iterations,
/// of which two show the order.
static SmallVector<int64_t> getExecutionOrder(RepeatOp repeat) {
  SmallVector<int64_t> order(repeat.getIterations().getVariants());
  if (order.empty())
    order.assign(std::min<int64_t>(repeat.getDim().getSize(), 2), 0);
  if (repeat.getReverse())
    std::reverse(order.begin(), order.end());
  return order;
}

void RepeatOp::getSuccessorRegions(RegionBranchPoint point,
                                   SmallVectorImpl<RegionSuccessor> &successors) {
  SmallVector<int64_t> order = getExecutionOrder(*this);
  auto isPoint = [&](int64_t variant) { return point == getBodies()[variant]; };
  SmallVector<bool> follows(getNumVariants());
  if (point.isParent())
    follows[order.front()] = true;
  for (size_t i = 1; i < order.size(); ++i)
    follows[order[i]] = follows[order[i]] || isPoint(order[i - 1]);
  for (const RepeatVariant &variant : getVariants())
    if (follows[variant.getNumber()])
      successors.emplace_back(&variant.getRegion(), variant.getIterArgs());
  if (isPoint(order.back()))
    successors.emplace_back(getIterResults());
}

OperandRange RepeatOp::getEntrySuccessorOperands(RegionBranchPoint) {
  return getInits();
}

bool RepeatOp::areTypesCompatible(Type forwarded, Type received) {
  return cast<NamedTensorType>(forwarded).equalsUpToSharding(cast<NamedTensorType>(received));
}

void RepeatOp::getRegionInvocationBounds(ArrayRef<Attribute>,
                                         SmallVectorImpl<InvocationBounds> &bounds) {
  for (const RepeatVariant &variant : getVariants()) {
    auto count = static_cast<unsigned>(variant.getCount());
    bounds.emplace_back(count, count);
  }
}

MutableOperandRange YieldOp::getMutableSuccessorOperands(RegionBranchPoint) {
  if (auto repeat = dyn_cast<RepeatOp>((*this)->getParentOp()))
    return getValuesMutable().slice(0, repeat.getNumIterArgs());
  return getValuesMutable();
}
