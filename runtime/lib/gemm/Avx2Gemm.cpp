// GEMM on AVX2 vectors (VectorUnit.h).
#include "Avx2Vectors.h"
#include "VectorProducts.h"

namespace titan::rt::avx2 {

// The most k-steps of a sum, and columns of a block. Sums are as long as on 512-bit vectors, for
// bitwise equal results.
constexpr int64_t kSteps = 384, kColumns = 128;

const FloatVectors *floatVectors() {
  static constexpr FloatVectorsOf<Avx2> unit(kSteps, kColumns);
  return &unit;
}

const Bfloat16Vectors<float> *wideningVectors() {
  static constexpr Bfloat16VectorsOf<Avx2, float> unit(kSteps, kColumns);
  return &unit;
}

} // namespace titan::rt::avx2
