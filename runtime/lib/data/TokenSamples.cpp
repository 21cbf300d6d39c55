#include "TokenSamples.h"

#include "base/Error.h"

#include <algorithm>

#include <fmt/format.h>

namespace titan::rt {

TokenSamples::TokenSamples(std::unique_ptr<TokenStream> tokens, LabelWeights labelWeights,
                           const std::string &path, int64_t sequence,
                           const std::vector<InputSpec> &inputs)
    : stream(std::move(tokens)), weights(std::move(labelWeights)), sequence(sequence),
      inputs(tokenInputs(inputs, sequence, path)) {
  if (stream->size() < sequence + 1)
    throw UserError(fmt::format("'{}' holds {} tokens; one sample of sequence length {} needs {}: "
                                "add texts, or compile the program for shorter samples by --set "
                                "data.seq=N",
                                path, stream->size(), sequence, sequence + 1));
}

void TokenSamples::read(int64_t sample, size_t input, int64_t first, int64_t count,
                        void *out) const {
  const int64_t start = sample * sequence;
  const auto [feed, type] = inputs[input];
  auto *to = static_cast<int64_t *>(out);
  if (feed == Feed::Weights)
    weights.read(start + first + 1, count, type, out); // of the labels
  else if (givesTokens(feed))
    stream->read(start + first + (feed == Feed::Labels), count, to);
  else if (feed == Feed::Used)
    std::fill(to, to + count, 1);
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
