// GEMM on AVX-512 vectors (VectorUnit.h). Compiled for AVX512_BF16 too; the float kernels use none
// of its instructions and run without it.
#include "Avx512Vectors.h"
#include "VectorProducts.h"

namespace titan::rt::avx512 {

// The most k-steps of a sum, and columns of a block. Sums of floats are as long as MKL's; longer
// ones lose accuracy. Products of pairs are exact, so only the caches limit their sums.
constexpr int64_t kFloatSteps = 384, kPairSteps = 512, kColumns = 256;

const FloatVectors *floatVectors() {
  static constexpr FloatVectorsOf<Avx512> unit(kFloatSteps, kColumns);
  return &unit;
}

const Bfloat16Vectors<float> *wideningVectors() {
  static constexpr Bfloat16VectorsOf<Avx512, float> unit(kFloatSteps, kColumns);
  return &unit;
}

const Bfloat16Vectors<uint32_t> *pairVectors() {
  static constexpr Bfloat16VectorsOf<Avx512, uint32_t> unit(kPairSteps, kColumns);
  return &unit;
}

} // namespace titan::rt::avx512
