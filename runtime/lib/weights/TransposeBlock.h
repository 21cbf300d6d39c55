// Transposition of words in registers.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

namespace titan::rt {

/// Square blocks of words, one in each 16 bytes of the registers: every x86-64 and every ARMv8 has
/// registers of 16 bytes, AVX2 has two such lanes. Row i of block b is from column
/// `b * size + i` of memory; a row after `transpose` has one word of each of `width` columns.
template <typename Word> class WordBlocks {
public:
#ifdef __AVX2__
  static constexpr int lanes = 2;
#else
  static constexpr int lanes = 1;
#endif
  static constexpr int size = 16 / sizeof(Word), width = lanes * size;

  /// `from` is in column i of the first block; columns are `distance` words apart.
  void loadRow(int i, const Word *from, int64_t distance) {
    if constexpr (lanes == 1)
      rows[i] = load(from);
    else
      rows[i] =
          join(load(from), load(from + size * distance), std::make_integer_sequence<int, width>());
  }
  void storeRow(int i, Word *to) const { std::memcpy(to, &rows[i], sizeof(Vector)); }

  /// Interleaves the first half of the rows with the second until each word is in its place.
  void transpose() {
    for (int step = 1; step < size; step *= 2)
      interleave(std::make_integer_sequence<int, width>());
  }

private:
  typedef Word Lane __attribute__((vector_size(16)));
  typedef Word Vector __attribute__((vector_size(16 * lanes)));

  static Lane load(const Word *from) {
    Lane lane;
    std::memcpy(&lane, from, sizeof lane);
    return lane;
  }

  template <int... J>
  static Vector join(Lane first, Lane second, std::integer_sequence<int, J...>) {
    return __builtin_shufflevector(first, second, J...);
  }

  /// J is a word of the result: of lane J / size, and from both rows in turn.
  template <int... J> void interleave(std::integer_sequence<int, J...>) {
    constexpr int half = size / 2;
    Vector mixed[size];
    for (int i = 0; i < half; ++i) {
      const Vector a = rows[i], b = rows[i + half];
      mixed[2 * i] =
          __builtin_shufflevector(a, b, (J / size * size + J % size / 2 + J % 2 * width)...);
      mixed[2 * i + 1] =
          __builtin_shufflevector(a, b, (J / size * size + half + J % size / 2 + J % 2 * width)...);
    }
    std::memcpy(rows, mixed, sizeof rows);
  }

  Vector rows[size];
};

} // namespace titan::rt
