// Random numbers that depend only on their purpose. Every value is a pure function of (seed, name,
// element index). So the initial bits of a parameter do not depend on the number of ranks, the
// sharding or the order. The Philox words are
//
//   key     = FNV-1a-64(purpose + ":" + name), low word first
//   counter = { index bits 0-31, index bits 32-47 | attempt << 16, seed low, seed high }
//
// with one block (128 bits, two doubles) per element. Everything is computed in double and then
// rounded to the element type, so f32 and f64 runs have equal initial values up to rounding.
//
// Logarithm and cosine consist of operations that IEEE 754 rounds uniquely. Their bits depend
// neither on the C library nor, if files are compiled with -ffp-contract=off, on the processor.
// Header-only, because the compiler's interpreter uses it too.
#pragma once

#include "base/math/VectorMath.h"
#include "base/math/VectorPeriodic.h"
#include "base/random/PhiloxVectors.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace titan {

/// One stream of random values, identified by purpose ("init"), name (the parameter's), and the
/// run's seed. Values are read by index, in any order.
class RandomStream {
public:
  RandomStream(uint64_t seed, std::string_view purpose, std::string_view name) : seed(seed) {
    uint64_t hash = fnv1a64(name, fnv1a64(":", fnv1a64(purpose)));
    key = {static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32)};
  }

  /// The 128 random bits of element `index` (< 2^48); `attempt` gives further blocks of them.
  TITAN_VECTOR_INLINE PhiloxCounter bits(uint64_t index, uint32_t attempt = 0) const {
    return philox4x32({static_cast<uint32_t>(index),
                       static_cast<uint32_t>(index >> 32) | attempt << 16,
                       static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
                      key);
  }

  /// Uniform in [0, 1): the upper 53 bits of the block's first two words.
  double uniform(uint64_t index) const {
    PhiloxCounter block = bits(index);
    return unitInterval(block[0], block[1]);
  }

  /// Standard normal, see `gaussian`.
  double normal(uint64_t index, uint32_t attempt = 0) const {
    PhiloxCounter block = bits(index, attempt);
    return gaussian(block[0], block[1], block[2], block[3]);
  }

  /// Standard normal restricted to [low, high], by rejection over the attempts of one index; the
  /// first `failed` attempts are known to fail. Bounds with almost no probability between them give
  /// the midpoint after 2^16 attempts.
  double truncatedNormal(uint64_t index, double low, double high, uint32_t failed = 0) const {
    for (uint32_t attempt = failed; attempt < (1u << 16); ++attempt) {
      double value = normal(index, attempt);
      if (value >= low && value <= high)
        return value;
    }
    return 0.5 * (low + high);
  }

  /// uniform() and normal() of Count elements from `first`, in a form that vectorises.
  template <int Count> void uniforms(uint64_t first, double (&out)[Count]) const {
    uint64_t words[4][Count];
    bits(first, words);
    for (int i = 0; i < Count; ++i)
      out[i] = unitInterval(words[0][i], words[1][i]);
  }
  template <int Count> void normals(uint64_t first, double (&out)[Count]) const {
    uint64_t words[4][Count];
    bits(first, words);
    for (int i = 0; i < Count; ++i)
      out[i] = gaussian(words[0][i], words[1][i], words[2][i], words[3][i]);
  }

private:
  /// The words of bits(first), bits(first + 1), ...
  template <int Count> void bits(uint64_t first, uint64_t (&words)[4][Count]) const {
    using namespace philox_vectors;
    static_assert(Count % kLanes == 0);
    for (int at = 0; at < Count; at += kLanes) {
      Lanes index{};
      for (int i = 0; i < kLanes; ++i)
        index[i] = first + static_cast<uint64_t>(at + i);
      Lanes block[4] = {index, index >> 32, Lanes{} + (seed & 0xFFFFFFFF), Lanes{} + (seed >> 32)};
      philox_vectors::philox4x32(block, key);
      for (int word = 0; word < 4; ++word)
        std::memcpy(&words[word][at], &block[word], sizeof(Lanes));
    }
  }

  /// A number below 2^52, exactly; few processors have an instruction to convert 64 bits.
  static TITAN_VECTOR_INLINE double toDouble(uint64_t number) {
    return std::bit_cast<double>(number | 0x4330000000000000) - 0x1.0p52;
  }

  /// The upper 53 of 64 bits, exactly, from 32-bit words.
  static TITAN_VECTOR_INLINE double unitInterval(uint64_t high, uint64_t low) {
    return (toDouble(high) * 0x1.0p21 + toDouble(low >> 11)) * 0x1.0p-53;
  }

  /// Box and Muller: sqrt(-2 ln u) cos(2 pi v), u in (0, 1], v in [0, 1).
  static TITAN_VECTOR_INLINE double gaussian(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    double u = 1.0 - unitInterval(a, b);
    double v = unitInterval(c, d);
    return std::sqrt(-2.0 * vlog(u)) * vcosTurns(v);
  }

  uint64_t seed;
  PhiloxKey key;
};

} // namespace titan
