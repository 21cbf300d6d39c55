#include "DataSource.h"

#include "base/Error.h"

namespace titan::rt {

namespace {

int64_t countWindows(const TokenStream &stream, const std::string &name, int64_t sequence) {
  int64_t windows = (stream.size() - 1) / sequence;
  if (stream.size() < sequence + 1)
    throw UserError("'" + name + "' holds " + std::to_string(stream.size()) +
                    " tokens; one sample of sequence length " + std::to_string(sequence) +
                    " needs " + std::to_string(sequence + 1));
  return windows;
}

} // namespace

int64_t SampleOrder::window(int64_t sample) const {
  int64_t position = sample % windowCount;
  if (!shuffle)
    return position;
  Permutation permutation(static_cast<uint64_t>(windowCount), seed,
                          static_cast<uint64_t>(epoch(sample)));
  return static_cast<int64_t>(permutation(static_cast<uint64_t>(position)));
}

DataSource::DataSource(std::unique_ptr<TokenStream> tokens, std::string name, int64_t sequence,
                       uint64_t seed, bool shuffle)
    : stream(std::move(tokens)), sequenceLength(sequence),
      samples(countWindows(*stream, name, sequence), seed, shuffle) {}

void DataSource::row(int64_t sample, int64_t firstColumn, int64_t columns, Feed feed,
                     int64_t *out) const {
  const int64_t start = samples.window(sample) * sequenceLength;
  if (givesTokens(feed))
    stream->read(start + firstColumn + (feed == Feed::Labels), columns, out);
  else
    readDocumentFeed(start, firstColumn, columns, feed, out);
}

void DataSource::readDocumentFeed(int64_t start, int64_t firstColumn, int64_t columns, Feed feed,
                                  int64_t *out) const {
  int64_t document = 0, begin = start, next = stream->nextDocument(start);
  for (int64_t i = 0; i < columns; ++i) {
    const int64_t position = start + firstColumn + i;
    for (; next <= position; next = stream->nextDocument(next)) {
      begin = next;
      ++document;
    }
    out[i] = feed == Feed::Documents ? document : position - begin;
  }
}

} // namespace titan::rt
