// Philox for several elements at once. Each 32-bit word occupies a 64-bit lane, so a product is one
// instruction (for 32-bit words, compilers multiply 64 by 64 bits). The upper half of a lane is
// never read, so it is not cleared between rounds.
#pragma once

#include "base/random/Philox.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace titan::philox_vectors {

#if defined(__AVX512F__)
using Lanes = uint64_t __attribute__((vector_size(64)));
TITAN_RANDOM Lanes multiply(Lanes a, Lanes b) {
  // GCC 12 claims that the unmasked intrinsic reads uninitialized memory (bug 105593).
  return reinterpret_cast<Lanes>(
      _mm512_maskz_mul_epu32(0xFF, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
#elif defined(__AVX2__)
using Lanes = uint64_t __attribute__((vector_size(32)));
TITAN_RANDOM Lanes multiply(Lanes a, Lanes b) {
  return reinterpret_cast<Lanes>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
#elif defined(__SSE2__)
using Lanes = uint64_t __attribute__((vector_size(16)));
TITAN_RANDOM Lanes multiply(Lanes a, Lanes b) {
  return reinterpret_cast<Lanes>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}
#else
using Lanes = uint64_t __attribute__((vector_size(16)));
TITAN_RANDOM Lanes multiply(Lanes a, Lanes b) {
  return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
}
#endif

constexpr int kLanes = sizeof(Lanes) / sizeof(uint64_t);

/// The blocks of kLanes counters, as philox4x32 computes them.
TITAN_RANDOM void philox4x32(Lanes (&words)[4], PhiloxKey key) {
  constexpr Lanes zero{};
  const Lanes first = zero + 0xD2511F53, second = zero + 0xCD9E8D57;
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const Lanes a = multiply(words[0], first), b = multiply(words[2], second);
    words[0] = b >> 32 ^ words[1] ^ key[0];
    words[1] = b;
    words[2] = a >> 32 ^ words[3] ^ key[1];
    words[3] = a;
    nextKey(key);
  }
  for (Lanes &word : words)
    word &= 0xFFFFFFFF;
}

} // namespace titan::philox_vectors
