// Sizes that follow from the number of positions.
//
// A program of the model phase has fixed sizes. The same program, compiled for two numbers of
// positions, shows which of them follow from that number: those that differ. If anything else
// differs, such as a constant or a number of operations, the program is right for its own number of
// positions only.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "dialects/titan/Onnx/Extent.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace titan::onnx {

class Lengths {
public:
  /// Compares a program with the same one for another number of positions. Both are of the same
  /// context. `obstacle`: why the sizes do not follow from that number.
  static mlir::FailureOr<Lengths> compare(mlir::func::FuncOp program, mlir::func::FuncOp other,
                                          std::string &obstacle);
  /// Every size is fixed.
  Lengths() = default;

  /// The size of a dimension of the program.
  Extent getExtent(ir::DimAttr dim) const;

private:
  friend class LengthComparison;
  std::map<std::pair<const void *, int64_t>, Extent> extents; ///< by name and size
};

/// The number of positions of a program's inputs, and that of its caches; the first if it has none.
struct Positions {
  int64_t own, all;
};
Positions getPositions(mlir::func::FuncOp program);

/// Replaces the programs of generation by @prefill for `chunk` positions, on one process. Without a
/// program of that kind, @logits says why.
mlir::LogicalResult computeChunk(mlir::ModuleOp module, int64_t chunk);

} // namespace titan::onnx
