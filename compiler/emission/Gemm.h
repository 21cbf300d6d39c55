//===- Gemm.h - Contractions as matrix products -----------------*- C++ -*-===//
//
// Finds the matrix product in an Einstein summation. Every dimension is of one class: batch (in
// both operands and the result), m (left and result), n (right and result), k (both operands,
// summed). Dimensions of a class that all tensors walk as one are merged; of what is left, one
// dimension of m, n and k each goes into the product, and the others become loops around it.
// Row-major matrices need unit stride in one of their two dimensions, transposed or not, so the
// choice tries those. Plain data, without IR.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_GEMM_H
#define TITAN_COMPILER_EMISSION_GEMM_H

#include "compiler/emission/Loops.h"

namespace titan::emission {

struct GemmOperand {
  Access access;
  llvm::SmallVector<Index> dims;
};

struct GemmPlan {
  /// False: no arrangement gives matrices (a batch dimension is innermost); walk elements instead.
  bool isGemm = false;
  /// The product computes the transposed result: operands are swapped.
  bool swapped = false;
  SizeExpr m, n, k;
  bool transposeA = false, transposeB = false;
  SizeExpr lda, ldb, ldc;
  std::optional<Loop> batch; ///< the batch loop that the product does itself
  SizeExpr strideA, strideB, strideC;
  llvm::SmallVector<Loop> loops; ///< around the product; k loops accumulate
  bool accumulates = false;      ///< some of `loops` walk k
};

GemmPlan planGemm(const GemmOperand &lhs, const GemmOperand &rhs, const GemmOperand &result);

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_GEMM_H
