// Selects the vector unit of the processor. This file is compiled without vector instructions,
// because it runs on every processor.
#include "VectorUnit.h"

#include "MatrixUnit.h"
#include "Request.h"

#include <unistd.h>

namespace titan::rt {

bool hasVectors256() {
#ifdef TITAN_AVX2
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool hasVectors512() {
#ifdef TITAN_AVX512
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

int64_t l1Associativity() {
  constexpr int64_t usual = 8;
#ifdef _SC_LEVEL1_DCACHE_ASSOC
  static const int64_t associativity = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
  return associativity > 0 ? associativity : usual; // unknown on some systems
#else
  return usual;
#endif
}

const FloatVectors *floatVectors(int maxBits) {
  if (maxBits >= 512 && hasVectors512())
    return avx512::floatVectors();
  return maxBits >= 256 && hasVectors256() ? avx2::floatVectors() : nullptr;
}

const Bfloat16Vectors<float> *wideningVectors(int maxBits) {
  if (maxBits >= 512 && hasVectors512())
    return avx512::wideningVectors();
  return maxBits >= 256 && hasVectors256() ? avx2::wideningVectors() : nullptr;
}

#ifdef TITAN_AVX512
const Bfloat16Vectors<uint32_t> *pairVectors() {
  static const bool pays = [] {
    const Bfloat16Request asked = requestForBfloat16();
    // Intel processors up to Emerald Rapids take four times as long for a pair as for a float.
    const bool areFast = !__builtin_cpu_is("intel") || asked == Bfloat16Request::Vectors;
    return hasVectors512() && __builtin_cpu_supports("avx512bf16") && areFast &&
           asked != Bfloat16Request::Widen;
  }();
  return pays ? avx512::pairVectors() : nullptr;
}
#endif

// Unreachable: the compiler does not support these instruction sets.
#ifndef TITAN_AVX2
const FloatVectors *avx2::floatVectors() {
  return nullptr;
}
const Bfloat16Vectors<float> *avx2::wideningVectors() {
  return nullptr;
}
#endif
#ifndef TITAN_AVX512
const Bfloat16Vectors<uint32_t> *pairVectors() {
  return nullptr;
}
const FloatVectors *avx512::floatVectors() {
  return nullptr;
}
const Bfloat16Vectors<float> *avx512::wideningVectors() {
  return nullptr;
}
const MatrixUnit *avx512::matrixUnit() {
  return nullptr;
}
void avx512::storeRows(const float *, int64_t, float, bf16 *, int64_t, int64_t) {}
#endif

} // namespace titan::rt
