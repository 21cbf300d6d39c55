// Rules for element types in mixed precision.

#include "dialects/titan/IR/ElementTypes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

Type ir::getWider(Type a, Type b) {
  return b.getIntOrFloatBitWidth() > a.getIntOrFloatBitWidth() ? b : a;
}

Type ir::getAccumulationType(Type element) {
  if (!isa<FloatType>(element))
    return element;
  return getWider(element, Float32Type::get(element.getContext()));
}

bool ir::isSameOrWiderFloat(Type terms, Type result) {
  return terms == result || (isa<FloatType>(terms) && isa<FloatType>(result) &&
                             result.getIntOrFloatBitWidth() > terms.getIntOrFloatBitWidth());
}

bool ir::isAccumulation(Operation *op) {
  auto reduce = dyn_cast_or_null<ReduceOp>(op);
  return reduce ? reduce.getKind() == dist::ReductionKind::Sum
                : isa_and_nonnull<ContractOp, GroupedContractOp, ScatterOp>(op);
}

PrecisionAttr PrecisionAttr::lookup(Operation *op) {
  auto function = mlir::dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  auto declared =
      function ? function->getAttrOfType<PrecisionAttr>(attr::kPrecision) : PrecisionAttr();
  return declared ? declared : get(op->getContext(), Type(), Type(), Type(), Type());
}

LogicalResult PrecisionAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type compute,
                                    Type reduce, Type activationsReduce, Type optimizer) {
  for (Type type : {compute, reduce, activationsReduce, optimizer})
    if (type && !mlir::isa<FloatType>(type))
      return emitError() << "(C1) expected floating-point types, got " << type;
  return success();
}
