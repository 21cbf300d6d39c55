// Products of the BLAS within LibTorch (MKL in the official builds), by its Fortran interface:
// column-major, everything by address.
#pragma once

#include <cstdint>

namespace titan::rt {

/// C = alpha * op(A) op(B) + beta * C; op by the letters "N" and "T".
template <typename Factor, typename Sum = Factor>
using BlasProduct = void(const char *transA, const char *transB, const int *m, const int *n,
                         const int *k, const Sum *alpha, const Factor *a, const int *lda,
                         const Factor *b, const int *ldb, const Sum *beta, Sum *c, const int *ldc);

struct Blas {
  BlasProduct<float> *sgemm;
  BlasProduct<double> *dgemm;
  BlasProduct<uint16_t, float> *gemmBf16; ///< MKL's own; null in a LibTorch over another BLAS
};

/// The first call loads LibTorch. Throws Fault where it cannot: not to be made within a parallel
/// region.
const Blas &blas();

} // namespace titan::rt
