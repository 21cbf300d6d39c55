// Training data as a stream of tokens cut into samples of one length. What the program sees is
// order-free: sample g of a run is a function of (seed, g) alone, so every mesh trains on the same
// batches, any rank reads just its rows, and resuming needs one number.
//
// TokenStream hides the storage: the bytes of a text, each a token, or the tokens of an indexed
// file. SampleOrder is the arithmetic of the order alone.
//
// Sample of length S: window w covers tokens [w * S, w * S + S], S + 1 of them; inputs are the
// first S, labels the last S, so label t is the token after input t. Windows do not overlap but for
// that one token, and each is used exactly once an epoch.
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
  /// The least number that the storage can hold: below 0 where it has a sign.
  virtual int64_t leastToken() const = 0;
  /// One more than the largest id that the storage can hold (256 for bytes).
  virtual int64_t vocabulary() const = 0;
  /// Copies tokens [first, first + count) to out. The range lies within the stream.
  virtual void read(int64_t first, int64_t count, int64_t *out) const = 0;
  /// Where the first document begins behind this position; size() if none does.
  virtual int64_t nextDocument(int64_t position) const = 0;
};

/// The bytes of a file, memory-mapped: nothing is read before it is used.
std::unique_ptr<TokenStream> openTextBytes(const std::string &path);

/// The tokens of PREFIX.bin, memory-mapped, after all of PREFIX.idx was checked
/// (base/data/TokenIndex.h). `path` is the prefix or one of the files. Documents follow one another
/// as they lie.
std::unique_ptr<TokenStream> openIndexedTokens(const std::string &path);

/// By the name of a format, `text` or `indexed`.
std::unique_ptr<TokenStream> openTokens(const std::string &format, const std::string &path);

/// Which window the run's sample number g is: epoch e = g / windows, and within it a permutation
/// seeded by (seed, e).
class SampleOrder {
public:
  /// `shuffle` false keeps the order of the file in every epoch.
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

  /// What stands in columns [firstColumn, firstColumn + columns) of a sample.
  void row(int64_t sample, int64_t firstColumn, int64_t columns, Feed feed, int64_t *out) const;

private:
  void readDocumentFeed(int64_t start, int64_t firstColumn, int64_t columns, Feed feed,
                        int64_t *out) const;

  std::unique_ptr<TokenStream> stream;
  int64_t sequenceLength;
  SampleOrder samples;
};

} // namespace titan::rt
