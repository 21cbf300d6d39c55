// A seeded permutation of [0, n) without a table: position -> element in constant time and memory.
// So a data set of any size is shuffled without an index, and any rank finds any sample.
//
// A balanced Feistel network over the smallest even number of bits that holds n, with six rounds.
// The round function is Philox (base/random/Philox.h) with key `seed` and counter {half, round,
// tweak low, tweak high}. Values outside [0, n) are encrypted again ("cycle walking": J. Black and
// P. Rogaway, "Ciphers with arbitrary finite domains", 2002). On average at most four values are
// tried, since the domain is less than four times n.
#pragma once

#include "base/random/Philox.h"

#include <cstdint>

namespace titan::rt {

class Permutation {
public:
  /// `tweak` distinguishes permutations of one seed: the epoch. n >= 1.
  Permutation(uint64_t n, uint64_t seed, uint64_t tweak)
      : n(n), key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, tweak(tweak) {
    while (halfBits < 32 && (uint64_t{1} << (2 * halfBits)) < n)
      ++halfBits;
  }

  uint64_t size() const { return n; }

  /// The element at `position` (< n).
  uint64_t operator()(uint64_t position) const {
    uint64_t value = position;
    do
      value = encrypt(value);
    while (value >= n);
    return value;
  }

private:
  uint64_t encrypt(uint64_t value) const {
    uint64_t mask = (uint64_t{1} << halfBits) - 1;
    uint64_t left = value >> halfBits, right = value & mask;
    for (uint32_t round = 0; round < 6; ++round) {
      uint32_t mixed =
          philox4x32({static_cast<uint32_t>(right), round, static_cast<uint32_t>(tweak),
                      static_cast<uint32_t>(tweak >> 32)},
                     key)[0];
      uint64_t next = left ^ (mixed & mask);
      left = right;
      right = next;
    }
    return left << halfBits | right;
  }

  uint64_t n;
  PhiloxKey key;
  uint64_t tweak;
  int halfBits = 1;
};

} // namespace titan::rt
