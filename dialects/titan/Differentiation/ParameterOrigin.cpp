// Finds the parameter from which a value derives.

#include "dialects/titan/Differentiation/ParameterOrigin.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace titan::ir;

/// The operand of which `value` is a view, cast or slice, or the scanned input of which it is a
/// slot; null for all other values.
static Value getOrigin(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->hasTrait<View>() || isa<CastOp, SliceOp>(op) ? op->getOperand(0) : Value();
  auto arg = cast<BlockArgument>(value);
  if (std::optional<RepeatVariant> body = findVariant(arg.getOwner()))
    for (const RepeatVariant::ScannedInput &scanned : body->getScannedInputs())
      if (scanned.slot == arg)
        return scanned.input;
  return Value();
}

bool titan::ir::isFromParameter(Value value) {
  while (Value origin = getOrigin(value))
    value = origin;
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg)
    return false;
  auto function = dyn_cast_or_null<FunctionOpInterface>(arg.getOwner()->getParentOp());
  return function && function.getArgAttr(arg.getArgNumber(), attr::kParam);
}

NamedTensorType titan::ir::getCotangentType(Value value) {
  auto type = cast<NamedTensorType>(value.getType());
  // A value that derives from a parameter has a parent function, which declares the gradient dtype.
  if (!isFromParameter(value) || !isa<FloatType>(type.getElementType()))
    return type;
  Type reduce = PrecisionAttr::lookup(value.getParentRegion()->getParentOp()).getReduce();
  return reduce ? type.withElementType(reduce) : type;
}
