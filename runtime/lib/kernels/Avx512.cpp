#include "Avx512.h"

#include "MatrixUnit.h"

#include <cstdlib>
#include <string_view>

namespace titan::rt::avx512 {

// Apart from the kernels, because they run on every processor.
bool hasFloats() {
#ifdef TITAN_AVX512
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

bool hasBfloat16() {
#ifdef TITAN_AVX512
  static const bool has = [] {
    const char *asked = std::getenv("TITAN_BF16");
    const std::string_view way = asked ? asked : "";
    // Intel's (to Emerald Rapids) take four times as long for a pair's as for a float's.
    const bool pays = !__builtin_cpu_is("intel") || way == "vectors";
    return hasFloats() && __builtin_cpu_supports("avx512bf16") && pays && way != "widen";
  }();
  return has;
#else
  return false;
#endif
}

#ifndef TITAN_AVX512 // nor does the compiler know it, so that nobody gets here
void packLeft(const FloatOperand &, const Slice &, int64_t, float *) {}
void packLeft(const Bfloat16Operand &, const Slice &, int64_t, uint32_t *) {}
void multiplyPanels(const float *, int64_t, int64_t, const FloatOperand &, const Slice &, float *,
                    const Destination<float> &) {}
void multiplyPanels(const uint32_t *, int64_t, int64_t, const Bfloat16Operand &, const Slice &,
                    uint32_t *, const Destination<float> &) {}
void multiplyPanels(const uint32_t *, int64_t, int64_t, const Bfloat16Operand &, const Slice &,
                    uint32_t *, const Destination<bf16> &) {}
void multiplyInPlace(const FloatOperand &, const Slice &, int64_t, const FloatOperand &,
                     const Slice &, float *, const Destination<float> &) {}
void multiplyFew(const float *, int64_t, const FloatOperand &, const Slice &,
                 const Destination<float> &) {}
void multiplyFew(const uint32_t *, int64_t, const Bfloat16Operand &, const Slice &,
                 const Destination<float> &) {}
void multiplyFew(const uint32_t *, int64_t, const Bfloat16Operand &, const Slice &,
                 const Destination<bf16> &) {}
const MatrixUnit *matrixUnit() {
  return nullptr;
}
void storeLines(const float *, int64_t, float, bf16 *, int64_t, int64_t) {}
#endif

} // namespace titan::rt::avx512
