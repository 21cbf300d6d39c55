// GEMM of the BLAS in LibTorch (MKL in the official builds) through its Fortran interface:
// column-major, arguments by address.
#pragma once

#include <cstdint>

namespace titan::rt {

/// C = alpha * op(A) op(B) + beta * C; the letters "N" and "T" select op.
template <typename Factor, typename Sum = Factor>
using BlasProduct = void(const char *transA, const char *transB, const int *m, const int *n,
                         const int *k, const Sum *alpha, const Factor *a, const int *lda,
                         const Factor *b, const int *ldb, const Sum *beta, Sum *c, const int *ldc);

/// The entry points of the BLAS; owned by LibTorch, which stays loaded.
struct Blas {
  BlasProduct<float> *sgemm;
  BlasProduct<double> *dgemm;
  BlasProduct<uint16_t, float> *gemmBf16; ///< MKL only; null with another BLAS
};

/// The first call loads LibTorch, and throws Fault on failure. Do not call it first in a parallel
/// region.
const Blas &blas();

} // namespace titan::rt
