//===- ElementTypes.cpp - Rules of mixed precision ------------------------===//

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
                : isa_and_nonnull<ContractOp, ScatterOp>(op);
}

Precision Precision::get(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  Precision precision;
  auto declared =
      function ? function->getAttrOfType<DictionaryAttr>(attr::kPrecision) : DictionaryAttr();
  if (!declared)
    return precision;
  auto read = [&](StringRef name) {
    auto type = declared.getAs<TypeAttr>(name);
    return type ? type.getValue() : Type();
  };
  return {read("compute"), read("reduce"), read("activations_reduce"), read("optimizer")};
}

DictionaryAttr Precision::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("compute", TypeAttr::get(compute)),
       builder.getNamedAttr("reduce", TypeAttr::get(reduce)),
       builder.getNamedAttr("activations_reduce", TypeAttr::get(activationsReduce)),
       builder.getNamedAttr("optimizer", TypeAttr::get(optimizer))});
}
