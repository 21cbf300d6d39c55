#include "Data.h"

#include "titan/runtime/error.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// Tokens of a storage that could hold larger ids than the model has rows for: each is looked at
/// when it is read, so that none reads foreign memory.
class BoundedTokens final : public TokenStream {
public:
  BoundedTokens(std::unique_ptr<TokenStream> stream, std::string path, int64_t bound)
      : stream(std::move(stream)), path(std::move(path)), bound(bound) {}

  int64_t size() const override { return stream->size(); }
  int64_t vocabulary() const override { return bound; }
  void read(int64_t first, int64_t count, int64_t *out) const override {
    stream->read(first, count, out);
    for (int64_t i = 0; i < count; ++i)
      if (out[i] < 0 || out[i] >= bound)
        throw UserError(fmt::format("'{}' holds the token {} at position {}, but the model's "
                                    "vocabulary has {} tokens",
                                    path, out[i], first + i, bound));
  }

  int64_t nextDocument(int64_t position) const override { return stream->nextDocument(position); }

private:
  std::unique_ptr<TokenStream> stream;
  std::string path;
  int64_t bound;
};

/// What is looked through before a run begins: about a second's reading. A wrong vocabulary shows
/// there; a stray token behind it is found when it is read.
constexpr int64_t lookedThrough = int64_t(1) << 30;

void lookThrough(const TokenStream &stream) {
  std::vector<int64_t> part(1 << 16);
  const int64_t end = std::min(stream.size(), lookedThrough);
  for (int64_t at = 0; at < end; at += static_cast<int64_t>(part.size()))
    stream.read(at, std::min<int64_t>(part.size(), end - at), part.data());
}

std::unique_ptr<TokenStream> openBounded(const std::string &format, const std::string &path,
                                         int64_t vocabulary) {
  auto stream = openTokens(format, path);
  if (stream->vocabulary() <= vocabulary)
    return stream;
  auto bounded = std::make_unique<BoundedTokens>(std::move(stream), path, vocabulary);
  lookThrough(*bounded);
  return bounded;
}

} // namespace

DataSource openData(const Program &program, const std::string &format, const std::string &path,
                    uint64_t seed, bool shuffle) {
  return DataSource(openBounded(format, path, program.vocab), path, program.seq, seed, shuffle);
}

} // namespace titan::rt
