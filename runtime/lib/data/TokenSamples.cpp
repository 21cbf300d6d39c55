#include "TokenSamples.h"

#include "base/Error.h"

#include <fmt/format.h>

namespace titan::rt {

TokenSamples::TokenSamples(std::unique_ptr<TokenStream> tokens, const std::string &path,
                           int64_t sequence, const std::vector<InputSpec> &inputs)
    : stream(std::move(tokens)), sequence(sequence) {
  if (stream->size() < sequence + 1)
    throw UserError(fmt::format("'{}' holds {} tokens; one sample of sequence length {} needs {}",
                                path, stream->size(), sequence, sequence + 1));
  for (const InputSpec &input : inputs) {
    std::optional<Feed> feed = findFeed(input.name);
    if (!feed || input.type != DType::I64 || input.shape != std::vector{sequence})
      throw UserError(fmt::format("'{}' is read as tokens, which give no input '{}'; --set "
                                  "data.format=arrays (for eval, eval.data.format) reads arrays",
                                  path, input.name));
    feeds.push_back(*feed);
  }
}

void TokenSamples::read(int64_t sample, size_t input, int64_t first, int64_t count,
                        void *out) const {
  const int64_t start = sample * sequence;
  const Feed feed = feeds[input];
  auto *to = static_cast<int64_t *>(out);
  if (givesTokens(feed))
    stream->read(start + first + (feed == Feed::Labels), count, to);
  else
    readDocumentFeed(start, first, count, feed, to);
}

void TokenSamples::readDocumentFeed(int64_t start, int64_t first, int64_t count, Feed feed,
                                    int64_t *out) const {
  int64_t document = 0, begin = start, next = stream->nextDocument(start);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = start + first + i;
    for (; next <= position; next = stream->nextDocument(next)) {
      begin = next;
      ++document;
    }
    out[i] = feed == Feed::Documents ? document : position - begin;
  }
}

} // namespace titan::rt
