#include "titan/runtime/data.h"
#include "titan/runtime/mapped_file.h"
#include "titan/runtime/token_index.h"

#include <cstring>
#include <limits>

namespace titan::rt {

namespace {

/// Tokens that are stored as `T`, the sequences one behind the other.
template <class T> class IndexedTokens final : public TokenStream {
public:
  IndexedTokens(const std::string &path, int64_t tokens) : file(path), tokens(tokens) {}

  int64_t size() const override { return tokens; }
  int64_t vocabulary() const override {
    constexpr auto most = std::numeric_limits<T>::max();
    return sizeof(T) < sizeof(int64_t) ? static_cast<int64_t>(most) + 1
                                       : static_cast<int64_t>(most);
  }
  void read(int64_t first, int64_t count, int64_t *out) const override {
    const std::byte *from = file.bytes().data() + first * static_cast<int64_t>(sizeof(T));
    for (int64_t i = 0; i < count; ++i) {
      T token;
      std::memcpy(&token, from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
      out[i] = static_cast<int64_t>(token);
    }
    file.release();
  }

private:
  MappedFile file;
  int64_t tokens;
};

TokenIndex checkIndex(const std::string &prefix) {
  const MappedFile tokens(prefix + ".bin"), index(prefix + ".idx");
  return readTokenIndex(index.bytes(), tokens.bytes().size(), prefix);
}

} // namespace

std::unique_ptr<TokenStream> openIndexedTokens(const std::string &path) {
  const std::string prefix = tokenFilePrefix(path), file = prefix + ".bin";
  const TokenIndex index = checkIndex(prefix);
  switch (index.type) {
  case TokenType::U8:
    return std::make_unique<IndexedTokens<uint8_t>>(file, index.tokens);
  case TokenType::I8:
    return std::make_unique<IndexedTokens<int8_t>>(file, index.tokens);
  case TokenType::I16:
    return std::make_unique<IndexedTokens<int16_t>>(file, index.tokens);
  case TokenType::I32:
    return std::make_unique<IndexedTokens<int32_t>>(file, index.tokens);
  case TokenType::I64:
    return std::make_unique<IndexedTokens<int64_t>>(file, index.tokens);
  case TokenType::U16:
    return std::make_unique<IndexedTokens<uint16_t>>(file, index.tokens);
  }
  __builtin_unreachable();
}

} // namespace titan::rt
