// Transposition of words from columns anywhere in memory to dense rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace titan::rt {

/// A square block of words in registers of 16 bytes, which every x86-64 and every ARMv8 has.
template <typename Word> class WordBlock {
public:
  static constexpr int64_t size = 16 / sizeof(Word);

  void loadRow(int64_t i, const std::byte *from) { std::memcpy(&rows[i], from, sizeof(Vector)); }
  void storeRow(int64_t i, Word *to) const { std::memcpy(to, &rows[i], sizeof(Vector)); }

  /// Interleaves the first half of the rows with the second until each word is in its place.
  void transpose() {
    for (int64_t width = 1; width < size; width *= 2)
      interleave(std::make_integer_sequence<int, static_cast<int>(size)>());
  }

private:
  typedef Word Vector __attribute__((vector_size(16)));

  template <int... J> void interleave(std::integer_sequence<int, J...>) {
    constexpr int half = size / 2;
    Vector mixed[size];
    for (int i = 0; i < half; ++i) {
      const Vector a = rows[i], b = rows[i + half];
      mixed[2 * i] = __builtin_shufflevector(a, b, (J / 2 + J % 2 * size)...);
      mixed[2 * i + 1] = __builtin_shufflevector(a, b, (half + J / 2 + J % 2 * size)...);
    }
    std::memcpy(rows, mixed, sizeof rows);
  }

  Vector rows[size];
};

/// to[i * pitch + j] = from[columns[j] + i] for i < count. The words of `from` may be unaligned.
template <typename Word>
void transposeColumns(const std::byte *from, std::span<const int64_t> columns, int64_t count,
                      Word *to, int64_t pitch) {
  constexpr int64_t size = WordBlock<Word>::size;
  const int64_t width = std::ssize(columns);
  auto at = [&](int64_t j, int64_t i) {
    return from + (columns[static_cast<size_t>(j)] + i) * static_cast<int64_t>(sizeof(Word));
  };
  const int64_t fullWidth = width / size * size, fullCount = count / size * size;
  for (int64_t j = 0; j < fullWidth; j += size) {
    for (int64_t k = 0; k < size; ++k) // for the rows that follow
      __builtin_prefetch(at(j + k, count));
    for (int64_t i = 0; i < fullCount; i += size) {
      WordBlock<Word> block;
      for (int64_t k = 0; k < size; ++k)
        block.loadRow(k, at(j + k, i));
      block.transpose();
      for (int64_t k = 0; k < size; ++k)
        block.storeRow(k, to + (i + k) * pitch + j);
    }
  }
  for (int64_t j = 0; j < width; ++j)
    for (int64_t i = j < fullWidth ? fullCount : 0; i < count; ++i)
      std::memcpy(to + i * pitch + j, at(j, i), sizeof(Word));
}

} // namespace titan::rt
