// Rows of a parameter from columns anywhere in memory.
#pragma once

#include "TransposeBlock.h"
#include "base/weights/StridedLayout.h"

#include <algorithm>
#include <array>
#include <utility>

namespace titan::rt {

/// Reads a block of columns: one cache line of each column at a time. The words of these lines are
/// rows of the block. While some rows are collected, the previous rows are written, and cache lines
/// of the next columns are prefetched. So memory, which is slower than the transposition, is always
/// busy.
///
/// `write(words, count, row)` writes `count` words from the beginning of a row of the block. Rows
/// that follow one another without a distance are written together.
template <typename Word, typename Write> class ColumnReader {
public:
  /// `from` is the first word of the column with the offset 0. It may be unaligned.
  ColumnReader(const StridedBlock &block, const std::byte *from, Write write)
      : block(block), from(from), write(write), width(std::ssize(block.columns)),
        isDense(block.localStride == width), pitch(isDense ? width : width + apart) {}

  void read() {
    Rows writing;
    reading = makeRows(0);
    while (reading.count > 0 || writing.count > 0) {
      next = makeRows(reading.first + reading.count);
      for (int64_t column = 0; column < width; column += together) {
        if (reading.count > 0)
          collect(column);
        writeNextRows(writing, column);
      }
      std::swap(collected, finished);
      writing = std::exchange(reading, next);
      requested = std::max(int64_t{0}, requested - width); // dense rows request few
    }
  }

private:
  static constexpr int64_t lineBytes = 64, lineWords = lineBytes / sizeof(Word);
  /// The number of columns that are transposed at once while as many are prefetched: more requests
  /// than a processor can have in flight.
  static constexpr int64_t together = 64;
  /// Rows a power of two apart would share a few lines of the cache.
  static constexpr int64_t apart = lineWords;
  using Buffer = std::array<Word, (StridedLayout::maxColumns + apart) * lineWords>;

  struct Rows {
    int64_t first = 0, count = 0;
  };

  const std::byte *find(int64_t row, int64_t column) const {
    const int64_t word = block.columns[static_cast<size_t>(column)] + row;
    return from + word * static_cast<int64_t>(sizeof(Word));
  }

  /// Rows up to the end of a line of the first column: the next rows read no line again.
  Rows makeRows(int64_t first) const {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(find(first, 0)) % lineBytes;
    return {first,
            std::min(block.count - first, lineWords - static_cast<int64_t>(offset / sizeof(Word)))};
  }

  /// Requests the lines of all columns before this one. Columns from `width` on belong to the
  /// next rows. Requests are made a few at a time, since a processor has few in flight.
  void requestTo(int64_t column) {
    for (; requested < std::min(column, 2 * width); ++requested)
      __builtin_prefetch(requested < width ? find(reading.first, requested)
                                           : find(next.first, requested - width));
  }

  /// Transposes words of the columns. Lines are copied first, since columns a power of two apart
  /// share a few lines of the cache.
  void collect(int64_t column) {
    const int64_t some = std::min(together, width - column), count = reading.count;
    for (int64_t j = 0; j < some; ++j) {
      Word *line = lines.data() + j * lineWords;
      if (count == lineWords)
        std::memcpy(line, find(reading.first, column + j), lineBytes);
      else
        std::memcpy(line, find(reading.first, column + j),
                    static_cast<size_t>(count) * sizeof(Word));
    }
    Word *to = collected->data() + column;
    constexpr int64_t blockWidth = WordBlocks<Word>::width;
    const int64_t full = some / blockWidth * blockWidth;
    for (int64_t j = 0; j < full; j += blockWidth) {
      requestTo(column + together + j / 2);
      transposeLines(lines.data() + j * lineWords, count, to + j, pitch);
    }
    for (int64_t j = full; j < some; ++j)
      for (int64_t i = 0; i < count; ++i)
        to[i * pitch + j] = lines[static_cast<size_t>(j * lineWords + i)];
  }

  static void transposeLines(const Word *lines, int64_t count, Word *to, int64_t pitch) {
    using Blocks = WordBlocks<Word>;
    for (int64_t i = 0; i < count; i += Blocks::size) { // rests have rows that are not written
      Blocks blocks;
      for (int k = 0; k < Blocks::size; ++k)
        blocks.loadRow(k, lines + k * lineWords + i, lineWords);
      blocks.transpose();
      for (int k = 0; k < Blocks::size; ++k)
        blocks.storeRow(k, to + (i + k) * pitch);
    }
  }

  /// Writes some of the rows: the same fraction of them as the columns from `column` on are of all
  /// columns.
  void writeNextRows(const Rows &rows, int64_t column) {
    const int64_t end = std::min(width, column + together);
    const int64_t first = rows.count * column / width, last = rows.count * end / width;
    if (isDense && first < last)
      return write(finished->data() + first * width, (last - first) * width, rows.first + first);
    for (int64_t i = first; i < last; ++i) {
      const int64_t share = together / 2 * (i + 1 - first) / (last - first);
      requestTo(column + together + together / 2 + share);
      write(finished->data() + i * pitch, width, rows.first + i);
    }
  }

  const StridedBlock &block;
  const std::byte *from;
  Write write;
  int64_t width;
  bool isDense;
  int64_t pitch;
  Rows reading, next;
  int64_t requested = 0; ///< columns of `reading`, then of `next`
  alignas(lineBytes) std::array<Word, together * lineWords> lines = {};
  alignas(lineBytes) std::array<Buffer, 2> buffers;
  Buffer *collected = &buffers[0], *finished = &buffers[1];
};

} // namespace titan::rt
