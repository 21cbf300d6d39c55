// The generator of all random numbers, Philox4x32-10, and the elements of a program's random
// tensors. Philox maps a counter and a key to a block of 128 bits, without state (J. Salmon, M.
// Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11).
//
// The compiler includes this header too, so it includes only the standard library.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace titan {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

#ifdef __CUDACC__
#define TITAN_RANDOM __host__ __device__ inline
#else
#define TITAN_RANDOM inline __attribute__((always_inline))
#endif

constexpr int kPhiloxRounds = 10;

/// One round on the four words of a counter.
TITAN_RANDOM void philoxRound(uint32_t &c0, uint32_t &c1, uint32_t &c2, uint32_t &c3,
                              const PhiloxKey &key) {
  const uint64_t a = uint64_t{0xD2511F53} * c0;
  const uint64_t b = uint64_t{0xCD9E8D57} * c2;
  c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ key[0];
  c1 = static_cast<uint32_t>(b);
  c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ key[1];
  c3 = static_cast<uint32_t>(a);
}

/// The next round's key.
TITAN_RANDOM void nextKey(PhiloxKey &key) {
  key[0] += 0x9E3779B9; // golden ratio
  key[1] += 0xBB67AE85; // sqrt(3) - 1
}

TITAN_RANDOM PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    philoxRound(counter[0], counter[1], counter[2], counter[3], key);
    nextKey(key);
  }
  return counter;
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo). `hash` continues an earlier hash.
constexpr uint64_t fnv1a64(std::string_view text, uint64_t hash = 0xcbf29ce484222325) {
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// An element of a random tensor, given its global index, the hash of its stream's name, and the
/// keys that it depends on (the run's seed, the step, a layer). It is the Philox block whose key is
/// the stream and whose upper counter words are the keys, folded into 64 bits by the finaliser of
/// SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA'14).
namespace element {

/// The hash of a random tensor's name.
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

/// In [0, 1): 24 bits, which a float represents, so all element types have equal numbers.
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

} // namespace titan
