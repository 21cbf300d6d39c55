// Indexed tokens as a TokenStream: PREFIX.bin with the tokens and PREFIX.idx with their storage
// type and the documents (base/data/TokenIndex.h).
#include "TokenStream.h"
#include "base/data/TokenIndex.h"
#include "base/files/MappedFile.h"

#include <cstring>
#include <limits>

namespace titan::rt {

namespace {

/// Tokens stored as `T`, with contiguous sequences.
template <class T> class IndexedTokens final : public TokenStream {
public:
  IndexedTokens(const std::string &prefix, const TokenIndex &tokenIndex)
      : tokens(prefix + ".bin", /*checksTruncation=*/true),
        index(prefix + ".idx", /*checksTruncation=*/true), tokenIndex(tokenIndex) {}

  int64_t size() const override { return tokenIndex.tokens; }
  int64_t leastToken() const override { return std::numeric_limits<T>::min(); }
  int64_t vocabulary() const override {
    constexpr auto most = std::numeric_limits<T>::max();
    return sizeof(T) < sizeof(int64_t) ? static_cast<int64_t>(most) + 1
                                       : static_cast<int64_t>(most);
  }
  void read(int64_t first, int64_t count, int64_t *out) const override {
    tokens.requireUntruncated();
    const std::byte *from = tokens.bytes().data() + first * static_cast<int64_t>(sizeof(T));
    for (int64_t i = 0; i < count; ++i) {
      T token;
      std::memcpy(&token, from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
      out[i] = static_cast<int64_t>(token);
    }
    tokens.release();
  }
  int64_t nextDocument(int64_t position) const override {
    index.requireUntruncated();
    int64_t before = 0,
            behind =
                tokenIndex.documents; // bounds of the first document that starts after the position
    while (before < behind) {
      const int64_t middle = before + (behind - before) / 2;
      if (documentStart(index.bytes(), tokenIndex, middle) > position)
        behind = middle;
      else
        before = middle + 1;
    }
    return before < tokenIndex.documents ? documentStart(index.bytes(), tokenIndex, before)
                                         : tokenIndex.tokens;
  }
  void forEachDocument(const std::function<void(int64_t, int64_t)> &visit) const override {
    index.requireUntruncated();
    for (int64_t i = 0, start = 0, end; i + 1 < tokenIndex.documents; ++i, start = end) {
      end = documentStart(index.bytes(), tokenIndex, i + 1);
      visit(start, end - start);
    }
    index.release();
  }

private:
  MappedFile tokens, index;
  TokenIndex tokenIndex;
};

/// Reads the index, and checks it against the tokens. Throws UserError.
TokenIndex checkIndex(const std::string &prefix) {
  const MappedFile tokens(prefix + ".bin"), index(prefix + ".idx");
  return readTokenIndex(index.bytes(), tokens.bytes().size(), prefix);
}

} // namespace

std::unique_ptr<TokenStream> openIndexedTokens(const std::string &path) {
  const std::string prefix = tokenFilePrefix(path);
  const TokenIndex index = checkIndex(prefix);
  switch (index.type) {
  case TokenType::U8:
    return std::make_unique<IndexedTokens<uint8_t>>(prefix, index);
  case TokenType::I8:
    return std::make_unique<IndexedTokens<int8_t>>(prefix, index);
  case TokenType::I16:
    return std::make_unique<IndexedTokens<int16_t>>(prefix, index);
  case TokenType::I32:
    return std::make_unique<IndexedTokens<int32_t>>(prefix, index);
  case TokenType::I64:
    return std::make_unique<IndexedTokens<int64_t>>(prefix, index);
  case TokenType::U16:
    return std::make_unique<IndexedTokens<uint16_t>>(prefix, index);
  }
  __builtin_unreachable();
}

} // namespace titan::rt
