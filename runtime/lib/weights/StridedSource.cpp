#include "StridedSource.h"
#include "TransposeBlock.h"

#include <algorithm>
#include <array>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace titan::rt {

namespace {

/// Elements that are converted at once, in the first cache.
constexpr int64_t atOnce = 512;
constexpr int64_t lineBytes = 64; // of the cache

/// Copies to memory that is not read soon. Stores past the caches do not read the lines first.
void copyPastCaches(std::byte *to, const std::byte *from, int64_t count) {
#ifdef __SSE2__
  constexpr int64_t line = lineBytes, word = sizeof(__m128i);
  const auto address = reinterpret_cast<uintptr_t>(to);
  const int64_t head = std::min(count, static_cast<int64_t>(-address % line));
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t at = head;
  for (; at + line <= count; at += line)
    for (int64_t k = at; k < at + line; k += word)
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + k)));
  std::memcpy(to + at, from + at, static_cast<size_t>(count - at));
#else
  std::memcpy(to, from, static_cast<size_t>(count));
#endif
}

/// Orders stores past the caches before later ones, as other threads see them.
void finishCopies() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

} // namespace

void StridedSource::convert(const std::byte *from, int64_t count, std::byte *to) const {
  const int64_t size = getByteSize(type);
  alignas(64) std::array<std::byte, atOnce * 8> converted;
  for (int64_t done = 0; done < count; done += atOnce) {
    const int64_t some = std::min(atOnce, count - done);
    convertStored(*stored, from + done * stored->bytes, some, type, converted.data());
    copyPastCaches(to + done * size, converted.data(), some * size);
  }
}

template <typename Word>
void StridedSource::readAs(const StridedBlock &block, const std::byte *from, std::byte *to) const {
  constexpr int64_t wordsOfLine = lineBytes / sizeof(Word);
  constexpr int64_t together = std::max<int64_t>(32, wordsOfLine);
  // Rows a power of two apart would share a few lines of the cache.
  constexpr int64_t apart = 32;
  constexpr int64_t words = (StridedLayout::maxColumns + apart) * together;
  alignas(64) std::array<Word, words> rows;
  auto *bytes = reinterpret_cast<const std::byte *>(rows.data());
  const int64_t size = getByteSize(type), width = std::ssize(block.columns);
  if (block.storedStride != 1) {
    for (int64_t done = 0; done < block.count; done += words) {
      const int64_t some = std::min(words, block.count - done);
      for (int64_t i = 0; i < some; ++i)
        std::memcpy(&rows[static_cast<size_t>(i)],
                    from + (block.columns[0] + (done + i) * block.storedStride) * stored->bytes,
                    sizeof(Word));
      convert(bytes, some, to + done * size);
    }
    return;
  }
  const bool isDense = block.localStride == width;
  const int64_t pitch = isDense ? width : width + apart;
  for (int64_t row = 0, some; row < block.count; row += some) {
    // Up to the end of a line of the file: the next rows read no line again.
    const std::byte *at = from + row * stored->bytes;
    const auto first = reinterpret_cast<uintptr_t>(at + block.columns[0] * stored->bytes);
    some = std::min(block.count - row,
                    together - static_cast<int64_t>(first % lineBytes / sizeof(Word)));
    transposeColumns(at, block.columns, some, rows.data(), pitch);
    std::byte *target = to + row * block.localStride * size;
    if (isDense)
      convert(bytes, some * width, target);
    else
      for (int64_t i = 0; i < some; ++i)
        convert(bytes + i * pitch * stored->bytes, width, target + i * block.localStride * size);
  }
}

void StridedSource::read(const StridedBlock &block, void *out) const {
  const std::byte *from = bytes.data() + block.stored * stored->bytes;
  std::byte *to = static_cast<std::byte *>(out) + block.local * getByteSize(type);
  if (block.localStride == 1 && block.storedStride == 1)
    convert(from + block.columns[0] * stored->bytes, block.count, to);
  else if (stored->bytes == 8)
    readAs<uint64_t>(block, from, to);
  else if (stored->bytes == 4)
    readAs<uint32_t>(block, from, to);
  else if (stored->bytes == 2)
    readAs<uint16_t>(block, from, to);
  else
    readAs<uint8_t>(block, from, to);
  finishCopies();
}

void StridedSource::read(int64_t first, int64_t count, void *out) const {
  convert(bytes.data() + first * stored->bytes, count, static_cast<std::byte *>(out));
  finishCopies();
}

} // namespace titan::rt
