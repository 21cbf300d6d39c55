#include "StridedSource.h"
#include "ColumnReader.h"

#include <algorithm>
#include <array>
#include <cstring>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace titan::rt {

namespace {

/// Elements that are converted at once, in the first cache.
constexpr int64_t atOnce = 512;
constexpr int64_t lineBytes = 64; // of the cache

/// Stores a complete line past the caches, which do not read it first.
void storePastCaches(std::byte *to, const std::byte *from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i *>(to), _mm512_loadu_si512(from));
#elif defined(__SSE2__)
  for (int64_t k = 0; k < lineBytes; k += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i *>(to + k),
                     _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + k)));
#else
  std::memcpy(to, from, lineBytes);
#endif
}

/// Copies to memory that is not read soon.
void copyPastCaches(std::byte *to, const std::byte *from, int64_t count) {
  const auto address = reinterpret_cast<uintptr_t>(to);
  const int64_t head = std::min(count, static_cast<int64_t>(-address % lineBytes));
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t at = head;
  for (; at + lineBytes <= count; at += lineBytes)
    storePastCaches(to + at, from + at);
  std::memcpy(to + at, from + at, static_cast<size_t>(count - at));
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
void StridedSource::readColumn(const StridedBlock &block, const std::byte *from,
                               std::byte *to) const {
  std::array<Word, atOnce> words;
  for (int64_t done = 0; done < block.count; done += atOnce) {
    const int64_t some = std::min(atOnce, block.count - done);
    for (int64_t i = 0; i < some; ++i)
      std::memcpy(&words[static_cast<size_t>(i)],
                  from + (block.columns[0] + (done + i) * block.storedStride) * stored->bytes,
                  sizeof(Word));
    convert(reinterpret_cast<const std::byte *>(words.data()), some, to + done * getByteSize(type));
  }
}

template <typename Word>
void StridedSource::readAs(const StridedBlock &block, const std::byte *from, std::byte *to) const {
  if (block.storedStride != 1)
    return readColumn<Word>(block, from, to);
  const auto write = [&](const Word *words, int64_t count, int64_t row) {
    convert(reinterpret_cast<const std::byte *>(words), count,
            to + row * block.localStride * getByteSize(type));
  };
  ColumnReader<Word, decltype(write)>(block, from, write).read();
}

void StridedSource::require(const StridedBlock &block) const {
  for (int64_t column : block.columns)
    lazy->require(block.stored + column, (block.count - 1) * block.storedStride + 1);
}

void StridedSource::read(const StridedBlock &block, void *out) const {
  if (lazy)
    require(block);
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
  if (lazy)
    lazy->require(first, count);
  convert(bytes.data() + first * stored->bytes, count, static_cast<std::byte *>(out));
  finishCopies();
}

} // namespace titan::rt
