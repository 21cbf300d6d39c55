// A read-only sequence of token ids: the bytes of a text, one token each, or the tokens of an
// indexed file.
//
// Errors: UserError naming file and reason.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace titan::rt {

class TokenStream {
public:
  virtual ~TokenStream() = default;
  /// Number of tokens.
  virtual int64_t size() const = 0;
  /// The least token that the storage can represent: negative for signed types.
  virtual int64_t leastToken() const = 0;
  /// One more than the largest token that the storage can represent (256 for bytes).
  virtual int64_t vocabulary() const = 0;
  /// Copies tokens [first, first + count) to out. The range must be within the stream.
  virtual void read(int64_t first, int64_t count, int64_t *out) const = 0;
  /// The start of the first document after this position; size() if there is none.
  virtual int64_t nextDocument(int64_t position) const = 0;
  /// Visits all documents in order: the first token and the number of tokens of each, which may be
  /// 0.
  virtual void
  forEachDocument(const std::function<void(int64_t first, int64_t tokens)> &visit) const = 0;
};

/// The bytes of a memory-mapped file; nothing is read before use.
std::unique_ptr<TokenStream> openTextBytes(const std::string &path);

/// The tokens of PREFIX.bin, memory-mapped, after a check of all of PREFIX.idx (TokenIndex.h).
/// `path` is the prefix or one of the two files. Documents keep the order of the file.
std::unique_ptr<TokenStream> openIndexedTokens(const std::string &path);

/// Opens `path` by its `format`, `text` or `indexed`.
std::unique_ptr<TokenStream> openTokens(const std::string &format, const std::string &path);

} // namespace titan::rt
