// The first index of a chunk of a dimension.
//
// A positional operation may compute a chunk of a longer dimension. Its start is one index, or one
// per index of other dimensions: each text of a batch has its position.
#pragma once

#include "dialects/titan/IR/TensorType.h"
#include "llvm/ADT/STLExtras.h"

namespace titan::ir {

/// Whether `start` is an i64 of rank 0, or with dimensions of `whole` other than `except`.
inline bool isStart(NamedTensorType start, NamedTensorType whole,
                    llvm::ArrayRef<mlir::StringAttr> except) {
  return start.getElementType().isInteger(64) && llvm::all_of(start.getDims(), [&](DimAttr dim) {
           const int64_t at = whole.findDimIndex(dim.getName());
           return at >= 0 && whole.getDims()[at].getSize() == dim.getSize() &&
                  !llvm::is_contained(except, dim.getName());
         });
}

} // namespace titan::ir
