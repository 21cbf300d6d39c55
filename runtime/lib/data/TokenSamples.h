// Samples of a stream of tokens. Inputs are known by their names (Feed.h), with one value for each
// of the S tokens of a sample.
//
// Sample w covers the S + 1 tokens [w * S, w * S + S]. `tokens` are the first S and `labels` the
// last S, so label t is the token after token t. Consecutive samples have one token in common.
#pragma once

#include "LabelWeights.h"
#include "SampleSet.h"
#include "TokenInput.h"
#include "TokenStream.h"

#include <memory>

namespace titan::rt {

class TokenSamples final : public SampleSet {
public:
  /// The stream must hold at least one sample. `path` is for messages.
  TokenSamples(std::unique_ptr<TokenStream> stream, LabelWeights weights, const std::string &path,
               int64_t sequence, const std::vector<InputSpec> &inputs);

  int64_t samples() const override { return (stream->size() - 1) / sequence; }
  void read(int64_t sample, size_t input, int64_t first, int64_t count, void *out) const override;

private:
  /// Writes for each token the number of its document in the sample, or its position in the
  /// document. `start` is the first token of the sample.
  void readDocumentFeed(int64_t start, int64_t first, int64_t count, Feed feed, int64_t *out) const;

  std::unique_ptr<TokenStream> stream;
  LabelWeights weights;
  int64_t sequence;
  std::vector<TokenInput> inputs;
};

} // namespace titan::rt
