// Values that share elements, and their names.

#include "dialects/titan/Support/Views.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

bool ir::isView(Operation *op) {
  return op->hasTrait<View>();
}

Value ir::getRoot(Value value) {
  for (Operation *op = value.getDefiningOp(); op && isView(op); op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

std::string ir::getAction(Operation *op) {
  std::string action = op->getName().stripDialect().str();
  if (auto kind = op->getAttrOfType<StringAttr>(attr::kGradKind))
    action += " " + kind.getValue().str();
  return action;
}

std::string ir::getSourceName(Value value) {
  // The result of a region has the name of the value that the region yields.
  auto result = dyn_cast<OpResult>(value);
  if (result) {
    if (auto fused = dyn_cast<FusedOp>(result.getOwner()))
      return getSourceName(fused.getYield().getValues()[result.getResultNumber()]);
    if (auto repeat = dyn_cast<RepeatOp>(result.getOwner()))
      return getSourceName(repeat.getYielded(result.getResultNumber()).front());
  }
  Location location = result ? dist::getValueLocation(result) : value.getLoc();
  if (auto named = location->findInstanceOf<NameLoc>(); named && !named.getName().empty())
    return named.getName().str();
  if (Operation *op = value.getDefiningOp())
    return op->getName().stripDialect().str();
  auto argument = cast<BlockArgument>(value);
  if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
    for (StringRef role : {attr::kParam, attr::kState, attr::kCache, attr::kInput, attr::kScalar})
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), role))
        return name.str();
  return "argument";
}
