//===- Case.h - One operation with everything it needs ----------*- C++ -*-===//
//
// A generated use of an operation as plain data: operands with their values, results, attributes.
// All checks of an operation (its gradient, its shardings, PyTorch's opinion) start from one.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_TESTS_OPS_CASE_H
#define TITAN_TESTS_OPS_CASE_H

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::ops {

using Dims = llvm::SmallVector<ir::DimAttr>;

/// A global tensor without sharding, and its elements row-major.
struct Tensor {
  ir::NamedTensorType type;
  std::vector<double> values;
};

struct Case {
  std::vector<Tensor> operands;
  std::vector<ir::NamedTensorType> results;
  std::vector<mlir::NamedAttribute> attributes = {};
  /// False for operations that only backward or optimizer use.
  bool isDifferentiable = true;
  /// Results through which nothing may be differentiated.
  std::vector<unsigned> withoutGradient = {};

  std::string op = {}; ///< full name, set by the caller of the generator
};

/// True for tensors of floating-point elements.
inline bool isReal(ir::NamedTensorType type) {
  return mlir::isa<mlir::FloatType>(type.getElementType());
}

} // namespace titan::ops

#endif // TITAN_TESTS_OPS_CASE_H
