// Training data: a stream of tokens divided into samples of equal length. Sample g of a run is a
// function of (seed, g) only. So every mesh trains on the same batches, any rank reads just its
// rows, and one number suffices to resume.
//
// TokenStream abstracts the storage: the bytes of a text, one token each, or the tokens of an
// indexed file. SampleOrder is the arithmetic of the order.
//
// With sample length S, window w covers the S + 1 tokens [w * S, w * S + S]. Inputs are the first S
// and labels the last S, so label t is the token after input t. Windows overlap only in that token,
// and an epoch uses each exactly once.
//
// Errors: UserError naming file and reason.
#pragma once

#include "Permutation.h"
#include "base/data/Feed.h"

#include <cstdint>
#include <memory>
#include <string>

namespace titan::rt {

/// A read-only sequence of token ids.
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
};

/// The bytes of a memory-mapped file; nothing is read before use.
std::unique_ptr<TokenStream> openTextBytes(const std::string &path);

/// The tokens of PREFIX.bin, memory-mapped, after a check of all of PREFIX.idx (token_index.h).
/// `path` is the prefix or one of the two files. Documents keep the order of the file.
std::unique_ptr<TokenStream> openIndexedTokens(const std::string &path);

/// `format` is `text` or `indexed`.
std::unique_ptr<TokenStream> openTokens(const std::string &format, const std::string &path);

/// The window of the run's sample g: epoch e = g / windows, permuted within the epoch by (seed, e).
class SampleOrder {
public:
  /// `shuffle` false keeps the file order in every epoch.
  SampleOrder(int64_t windows, uint64_t seed, bool shuffle = true)
      : windowCount(windows), seed(seed), shuffle(shuffle) {}

  int64_t windows() const { return windowCount; }
  int64_t epoch(int64_t sample) const { return sample / windowCount; }
  int64_t window(int64_t sample) const;

private:
  int64_t windowCount;
  uint64_t seed;
  bool shuffle;
};

/// Samples of a run.
class DataSource {
public:
  /// The stream must hold at least one window.
  DataSource(std::unique_ptr<TokenStream> stream, std::string name, int64_t sequence, uint64_t seed,
             bool shuffle = true);

  int64_t sequence() const { return sequenceLength; }
  int64_t vocabulary() const { return stream->vocabulary(); }
  const SampleOrder &order() const { return samples; }

  /// Writes columns [firstColumn, firstColumn + columns) of a sample.
  void row(int64_t sample, int64_t firstColumn, int64_t columns, Feed feed, int64_t *out) const;

private:
  void readDocumentFeed(int64_t start, int64_t firstColumn, int64_t columns, Feed feed,
                        int64_t *out) const;

  std::unique_ptr<TokenStream> stream;
  int64_t sequenceLength;
  SampleOrder samples;
};

} // namespace titan::rt
