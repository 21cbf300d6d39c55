#include "base/data/TokenIndex.h"

#include "base/Error.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

namespace titan {

namespace {

constexpr std::array<char, 9> magic = {'M', 'M', 'I', 'D', 'I', 'D', 'X', 0, 0};
constexpr size_t headSize = magic.size() + 8 + 1 + 8 + 8;
constexpr size_t bytesPerSequence = sizeof(int32_t) + sizeof(int64_t); // length and offset

template <class T> T load(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}
/// Number `i` of a list at `offset`.
template <class T> T load(std::span<const std::byte> bytes, size_t offset, int64_t i) {
  return load<T>(bytes, offset + static_cast<size_t>(i) * sizeof(T));
}

// The byte offsets of the lists in a file with this number of sequences.
size_t offsetsAt(int64_t sequences) {
  return headSize + static_cast<size_t>(sequences) * sizeof(int32_t);
}
size_t documentsAt(int64_t sequences) {
  return headSize + static_cast<size_t>(sequences) * bytesPerSequence;
}

class IndexReader {
public:
  IndexReader(std::span<const std::byte> bytes, const std::string &prefix)
      : bytes(bytes), prefix(prefix) {}

  TokenIndex read(uint64_t tokenBytes) {
    const TokenType type = readHead();
    const auto sequences = next<uint64_t>(), documents = next<uint64_t>();
    checkSize(sequences, documents);
    TokenIndex index{type, 0, static_cast<int64_t>(sequences), static_cast<int64_t>(documents)};
    index.tokens = countTokens(index.sequences, getByteSize(type), tokenBytes);
    checkDocuments(index);
    return index;
  }

private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> reason, Args &&...args) const {
    throw UserError(
        fmt::format("'{}.idx' {}", prefix, fmt::format(reason, std::forward<Args>(args)...)));
  }

  /// Reads from the header, whose size was checked.
  template <class T> T next() {
    T value = load<T>(bytes, at);
    at += sizeof(T);
    return value;
  }

  TokenType readHead() {
    if (bytes.size() < magic.size() || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
      refuse("is not a token index: it does not begin with MMIDIDX");
    if (bytes.size() < headSize)
      refuse("is truncated: its header ends after {} bytes", bytes.size());
    at = magic.size();
    if (auto version = next<uint64_t>(); version != 1)
      refuse("has version {}; only version 1 can be read", version);
    return readType();
  }

  TokenType readType() {
    switch (auto code = next<uint8_t>()) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 8:
      return static_cast<TokenType>(code);
    case 6:
    case 7:
      refuse("declares tokens as floating-point numbers (type {})", code);
    default:
      refuse("declares the unknown token type {}", code);
    }
  }

  /// By division, because the file's counts are untrusted and their product may overflow.
  void checkSize(uint64_t sequences, uint64_t documents) const {
    const uint64_t left = bytes.size() - headSize;
    const bool fits = sequences <= left / bytesPerSequence &&
                      documents <= (left - sequences * bytesPerSequence) / sizeof(int64_t);
    if (!fits)
      refuse("lists {} sequences and {} documents, but ends after {} bytes", sequences, documents,
             bytes.size());
    // Optional modes, one byte per sequence.
    const uint64_t end = headSize + sequences * bytesPerSequence + documents * sizeof(int64_t);
    if (bytes.size() != end && bytes.size() != end + sequences)
      refuse("lists {} sequences and {} documents, which end at byte {}, but has {} bytes",
             sequences, documents, end, bytes.size());
  }

  /// Checks that sequences are contiguous and fill the file.
  int64_t countTokens(int64_t sequences, int64_t width, uint64_t tokenBytes) const {
    int64_t end = 0;
    for (int64_t i = 0; i < sequences; ++i) {
      const auto length = load<int32_t>(bytes, headSize, i);
      const auto offset = load<int64_t>(bytes, offsetsAt(sequences), i);
      if (length < 0)
        refuse("gives sequence {} the length {}", i, length);
      if (offset != end)
        refuse("lists sequence {} at byte {}, but the sequences before it end at byte {}", i,
               offset, end);
      end += length * width; // no overflow: at most a file's size, plus 2^34
      if (static_cast<uint64_t>(end) > tokenBytes)
        refuse("lists the end of sequence {} at byte {}, but '{}.bin' has {} bytes", i, end, prefix,
               tokenBytes);
    }
    if (static_cast<uint64_t>(end) != tokenBytes)
      refuse("lists {} bytes of tokens, but '{}.bin' has {}", end, prefix, tokenBytes);
    return end / width;
  }

  /// Megatron-LM's assertion: the list starts with sequence 0 and ends with the number of
  /// sequences. A merge that forgot the documents violates it.
  void checkDocuments(const TokenIndex &index) const {
    constexpr const char *remedy = "write the index again with the documents of all sequences";
    int64_t before = 0;
    for (int64_t i = 0; i < index.documents; ++i) {
      const auto sequence = load<int64_t>(bytes, documentsAt(index.sequences), i);
      if (i == 0 && sequence != 0)
        refuse("lists sequence {} instead of 0 as the start of the first document: {}", sequence,
               remedy);
      if (sequence < before || sequence > index.sequences)
        refuse("lists sequence {1} as the start of document {0}; expected {2} to {3}", i, sequence,
               before, index.sequences);
      before = sequence;
    }
    if (index.documents == 0)
      refuse("lists no documents: {}", remedy);
    if (before != index.sequences)
      refuse("lists sequence {} as the end of the documents, but has {} sequences: {}", before,
             index.sequences, remedy);
  }

  std::span<const std::byte> bytes;
  const std::string &prefix;
  size_t at = 0;
};

} // namespace

int64_t getByteSize(TokenType type) {
  switch (type) {
  case TokenType::U8:
  case TokenType::I8:
    return 1;
  case TokenType::I16:
  case TokenType::U16:
    return 2;
  case TokenType::I32:
    return 4;
  case TokenType::I64:
    return 8;
  }
  __builtin_unreachable();
}

TokenIndex readTokenIndex(std::span<const std::byte> index, uint64_t tokenBytes,
                          const std::string &prefix) {
  return IndexReader(index, prefix).read(tokenBytes);
}

int64_t documentStart(std::span<const std::byte> bytes, const TokenIndex &index, int64_t document) {
  const auto sequence = load<int64_t>(bytes, documentsAt(index.sequences), document);
  if (sequence == index.sequences)
    return index.tokens;
  return load<int64_t>(bytes, offsetsAt(index.sequences), sequence) / getByteSize(index.type);
}

} // namespace titan
