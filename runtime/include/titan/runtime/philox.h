// Random numbers that depend on nothing but what they are for. Every value is a pure function of
// (seed, name, element index), so a parameter starts with the same bits on one rank or on a
// thousand, whole or sharded, whatever was drawn before it.
//
// The generator is Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers:
// as easy as 1, 2, 3", SC'11. The words are laid out as
//
//   key     = FNV-1a-64(purpose + ":" + name), low word first
//   counter = { index bits 0-31, index bits 32-47 | attempt << 16, seed low, seed high }
//
// with one block (128 bits, two doubles) an element. Everything is computed in double and rounded
// to the element type at the end, so that f32 and f64 runs start alike.
//
// Header-only and free of other headers of the runtime: the compiler includes it too.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace titan::rt {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

#ifdef __CUDACC__
#define TITAN_RANDOM __host__ __device__ inline
#else
#define TITAN_RANDOM inline __attribute__((always_inline))
#endif

/// Ten rounds of Philox on four 32-bit words.
TITAN_RANDOM PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * counter[0];
    uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9; // golden ratio
    key[1] += 0xBB67AE85; // sqrt(3) - 1
  }
  return counter;
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo). `hash` continues an earlier one.
constexpr uint64_t fnv1a64(std::string_view text, uint64_t hash = 0xcbf29ce484222325) {
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// One stream of random values: what they are for ("init"), whose they are (the parameter's name),
/// and the run's seed. Values are read by index, in any order.
class RandomStream {
public:
  RandomStream(uint64_t seed, std::string_view purpose, std::string_view name) : seed(seed) {
    uint64_t hash = fnv1a64(name, fnv1a64(":", fnv1a64(purpose)));
    key = {static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32)};
  }

  /// The 128 random bits of element `index` (< 2^48); `attempt` gives further blocks of them.
  PhiloxCounter bits(uint64_t index, uint32_t attempt = 0) const {
    return philox4x32({static_cast<uint32_t>(index),
                       static_cast<uint32_t>(index >> 32) | attempt << 16,
                       static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
                      key);
  }

  /// Uniform in [0, 1): the upper 53 bits of the block's first two words.
  double uniform(uint64_t index) const { return unitInterval(bits(index), 0); }

  /// Standard normal by Box and Muller: sqrt(-2 ln u) cos(2 pi v), u in (0, 1], v in [0, 1).
  double normal(uint64_t index, uint32_t attempt = 0) const {
    PhiloxCounter block = bits(index, attempt);
    double u = 1.0 - unitInterval(block, 0);
    double v = unitInterval(block, 2);
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586476925286766559 * v);
  }

  /// Standard normal restricted to [low, high], by rejection over the attempts of one index. Bounds
  /// with almost no probability between them end in the midpoint after 2^16 attempts.
  double truncatedNormal(uint64_t index, double low, double high) const {
    for (uint32_t attempt = 0; attempt < (1u << 16); ++attempt) {
      double value = normal(index, attempt);
      if (value >= low && value <= high)
        return value;
    }
    return 0.5 * (low + high);
  }

private:
  static double unitInterval(const PhiloxCounter &block, int first) {
    uint64_t word = uint64_t{block[first]} << 32 | block[first + 1];
    return static_cast<double>(word >> 11) * 0x1.0p-53;
  }

  uint64_t seed;
  PhiloxKey key;
};

/// An element of a random tensor of the program, by its global index, the hash of its stream's name
/// and the keys that it depends on (the run's seed, the step, a layer): the block of Philox whose
/// key is the stream and whose upper counter words are the keys, folded into 64 bits by the
/// finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA'14).
namespace element {

/// What names the stream of a random tensor.
constexpr uint64_t stream(std::string_view name) {
  return fnv1a64(name, fnv1a64("tensor:"));
}

TITAN_RANDOM uint64_t fold(uint64_t state, uint64_t key) {
  state = (state ^ key) + 0x9E3779B97F4A7C15;
  state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9;
  state = (state ^ state >> 27) * 0x94D049BB133111EB;
  return state ^ state >> 31;
}

template <typename... Keys> TITAN_RANDOM uint64_t foldAll(Keys... keys) {
  uint64_t state = 0;
  ((state = fold(state, static_cast<uint64_t>(static_cast<int64_t>(keys)))), ...);
  return state;
}

TITAN_RANDOM PhiloxCounter bits(uint64_t stream, uint64_t index, uint64_t keys) {
  return philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                     static_cast<uint32_t>(keys), static_cast<uint32_t>(keys >> 32)},
                    {static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)});
}

/// In [0, 1): 24 bits, which a float holds, so that all element types see the same numbers.
template <typename T> TITAN_RANDOM T uniform(uint64_t stream, uint64_t index, uint64_t keys) {
  return static_cast<T>(static_cast<int32_t>(bits(stream, index, keys)[0] >> 8)) * T(0x1.0p-24);
}

/// Standard normal, by Box and Muller: sqrt(-2 ln u) cos(2 pi v), u in (0, 1], v in [0, 1).
template <typename T> TITAN_RANDOM T normal(uint64_t stream, uint64_t index, uint64_t keys) {
  const PhiloxCounter block = bits(stream, index, keys);
  const double u = (static_cast<double>(block[0]) + 1) * 0x1.0p-32;
  const double v = static_cast<double>(block[1]) * 0x1.0p-32;
  return static_cast<T>(std::sqrt(-2.0 * std::log(u)) *
                        std::cos(6.283185307179586476925286766559 * v));
}

} // namespace element

} // namespace titan::rt
