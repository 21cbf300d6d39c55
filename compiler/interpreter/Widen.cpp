// Widens a program to double precision.

#include "compiler/interpreter/Widen.h"

#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace titan;

void interpreter::widenToFloat64(ModuleOp module) {
  // Only tensors: numbers in attributes (an initialiser's scale) keep their types.
  AttrTypeReplacer replacer;
  replacer.addReplacement([](ir::NamedTensorType type) -> std::optional<Type> {
    if (!isa<FloatType>(type.getElementType()))
      return std::nullopt;
    return type.withElementType(Float64Type::get(type.getContext()));
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}
