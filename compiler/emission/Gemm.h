// Contractions as matrix products.
//
// Finds the matrix product in an Einstein summation. Every dimension has one class: batch (in both
// operands and the result), m (left and result), n (right and result), k (both operands, summed).
// Contiguous dimensions of a class are merged. One remaining dimension of each of m, n and k enters
// the product, and the others become loops around it. A row-major matrix needs unit stride in one
// of its two dimensions, transposed or not; the choice tries these. Plain data, without IR.
#pragma once

#include "compiler/emission/Loops.h"

namespace titan::emission {

struct GemmOperand {
  Access access;
  llvm::SmallVector<IndexDim> dims;
};

struct GemmPlan {
  /// False: no arrangement gives matrices (a batch dimension is innermost); use element loops
  /// instead.
  bool isGemm = false;
  /// The product computes the transposed result, with swapped operands.
  bool swapped = false;
  SizeExpr m, n, k;
  bool transposeA = false, transposeB = false;
  SizeExpr lda, ldb, ldc;
  std::optional<Loop> batch; ///< the batch loop inside of the product
  SizeExpr strideA, strideB, strideC;
  llvm::SmallVector<Loop> loops; ///< around the product; k loops accumulate
  bool accumulates = false;      ///< some of `loops` iterate over k
};

GemmPlan planGemm(const GemmOperand &lhs, const GemmOperand &rhs, const GemmOperand &result);

} // namespace titan::emission
