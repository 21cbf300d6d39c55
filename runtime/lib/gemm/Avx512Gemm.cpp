// Compiled for pairs of bf16 as well; what multiplies floats uses none, and runs without them.
#include "Avx512Vectors.h"
#include "VectorProducts.h"

namespace titan::rt::avx512 {

// Sums of floats are as long as MKL's, for longer ones err more; those of pairs, whose products are
// exact, as long as the caches like.
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
