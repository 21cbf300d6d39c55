// Samples of whole documents, none of which continues from another sample. The packs of documents
// follow from the stream, the length of samples and `Overlong` alone (docs/data.md, "Packed
// samples").
//
// A document of L tokens takes L - 1 slots of a sample, one for each token that has a label. A
// longer document than a sample, of S slots, is refused, left out, cut to S slots, or split into
// segments of S slots and a rest, which count as documents. Documents fill packs in the order of
// the stream; a pack ends before the first that does not fit. Slots after the last document have
// token, label and weight 0.
#pragma once

#include "LabelWeights.h"
#include "SampleSet.h"
#include "TokenInput.h"
#include "TokenStream.h"

#include <memory>
#include <vector>

namespace titan::rt {

/// What becomes of a document that is longer than a sample.
enum class Overlong { Refuse, Split, Truncate, Skip };

class PackedSamples final : public SampleSet {
public:
  /// Throws UserError for a stream without a document of two tokens that is used, for a document
  /// that is too long if `overlong` refuses it, and for inputs without `weights`: only weights keep
  /// unused slots out of the loss. Its message names `path`, and `remedy`, by which a model gets
  /// the input.
  PackedSamples(std::unique_ptr<TokenStream> stream, LabelWeights weights, const std::string &path,
                int64_t sequence, Overlong overlong, const std::vector<InputSpec> &inputs,
                const std::string &remedy);

  int64_t samples() const override { return static_cast<int64_t>(packs.size()); }
  void read(int64_t sample, size_t input, int64_t first, int64_t count, void *out) const override;

private:
  /// A document in a sample: `slots` pairs of token and label from `token` of the stream on.
  struct Segment {
    int64_t document, token, slot, slots;
  };
  /// Visits the segments of a pack in order. Returns the unused slots as one more segment.
  template <class Visit> Segment forEachSegment(int64_t pack, Visit visit) const;
  void write(const Segment &segment, int64_t first, int64_t count, TokenInput input,
             void *out) const;
  /// Sets `packs`, from all documents of the stream. Messages name `path`.
  void findPacks(const std::string &path);
  /// The slots of the first segment of a document with this many pairs; 0 if it is left out.
  int64_t firstSlots(int64_t pairs) const;

  std::unique_ptr<TokenStream> stream;
  LabelWeights weights;
  int64_t sequence;
  Overlong overlong;
  std::vector<TokenInput> inputs;
  std::vector<int64_t> packs; ///< the first token of each
};

} // namespace titan::rt
