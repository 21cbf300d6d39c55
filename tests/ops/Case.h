// A generated use of an operation.
//
// A case is plain data: operands with values, results, attributes. All checks of an operation start
// from a case: gradient, shardings, padding, comparison with PyTorch.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::ops {

using Dims = llvm::SmallVector<ir::DimAttr>;

/// A global tensor without sharding; elements are row-major.
struct Tensor {
  ir::NamedTensorType type;
  std::vector<double> values;
};

struct Case {
  std::vector<Tensor> operands;
  std::vector<ir::NamedTensorType> results;
  std::vector<mlir::NamedAttribute> attributes = {};
  /// False for operations that only the backward pass, the optimizer or generation uses.
  bool isDifferentiable = true;
  /// Results that must not be differentiated.
  std::vector<unsigned> withoutGradient = {};

  std::string op = {}; ///< full name, set by the generator's caller
};

/// Whether the elements are floating-point.
inline bool isReal(ir::NamedTensorType type) {
  return mlir::isa<mlir::FloatType>(type.getElementType());
}

} // namespace titan::ops
