#include "PackedSamples.h"

#include "base/Error.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace titan::rt {

PackedSamples::PackedSamples(std::unique_ptr<TokenStream> tokens, LabelWeights labelWeights,
                             const std::string &path, int64_t sequence, Overlong overlong,
                             const std::vector<InputSpec> &specs, const std::string &remedy)
    : stream(std::move(tokens)), weights(std::move(labelWeights)), sequence(sequence),
      overlong(overlong), inputs(tokenInputs(specs, sequence, path)) {
  if (std::none_of(inputs.begin(), inputs.end(),
                   [](TokenInput input) { return input.feed == Feed::Weights; }))
    throw UserError("packed samples have unused slots, whose losses must not count, but the model "
                    "has no input `weights`: " +
                    remedy);
  findPacks(path);
  if (packs.empty())
    throw UserError(fmt::format("'{}' holds no document of two tokens or more{}", path,
                                overlong == Overlong::Skip ? " that fits into a sample" : ""));
}

int64_t PackedSamples::firstSlots(int64_t pairs) const {
  return overlong == Overlong::Skip && pairs > sequence ? 0 : std::min(pairs, sequence);
}

void PackedSamples::findPacks(const std::string &path) {
  int64_t used = sequence; // so that the first document begins a pack
  int64_t document = 0;
  stream->forEachDocument([&](int64_t first, int64_t tokens) {
    ++document;
    if (overlong == Overlong::Refuse && tokens - 1 > sequence)
      throw UserError(fmt::format(
          "'{}': document {} has {} tokens, and only some count in the loss, so that a part of it "
          "would lack its prompt; a sample has {}: --set data.overlong=truncate cuts such "
          "documents at the end, and --set data.overlong=skip leaves them out",
          path, document, tokens, sequence + 1));
    const bool isSplit = overlong == Overlong::Split;
    const int64_t last = first + (isSplit ? tokens - 1 : firstSlots(tokens - 1)); // a label only
    for (int64_t token = first; token < last;) {
      const int64_t slots = std::min(last - token, sequence);
      if (used + slots > sequence) {
        packs.push_back(token);
        used = 0;
      }
      used += slots;
      token += slots;
    }
  });
}

template <class Visit>
PackedSamples::Segment PackedSamples::forEachSegment(int64_t pack, Visit visit) const {
  Segment segment{0, packs[static_cast<size_t>(pack)], 0, 0};
  while (segment.slot < sequence && segment.token < stream->size()) {
    const int64_t end = stream->nextDocument(segment.token);
    segment.slots = firstSlots(end - 1 - segment.token);
    if (segment.slot + segment.slots > sequence)
      break;
    if (segment.slots > 0)
      visit(std::as_const(segment));
    segment.document += segment.slots > 0;
    segment.slot += segment.slots;
    segment.token += segment.slots;
    if (segment.token == end - 1 || overlong != Overlong::Split) // a label only, or left out
      segment.token = end;
  }
  segment.slots = sequence - segment.slot;
  return segment;
}

/// Writes elements [first, first + count) of a segment.
void PackedSamples::write(const Segment &segment, int64_t first, int64_t count, TokenInput input,
                          void *out) const {
  const int64_t token = segment.token + first;
  auto *to = static_cast<int64_t *>(out);
  switch (input.feed) {
  case Feed::Tokens:
    return stream->read(token, count, to);
  case Feed::Labels:
    return stream->read(token + 1, count, to);
  case Feed::Documents:
    return std::fill(to, to + count, segment.document), void();
  case Feed::Positions:
    return std::iota(to, to + count, first);
  case Feed::Weights:
    return weights.read(token + 1, count, input.type, out);
  case Feed::Used:
    return std::fill(to, to + count, 1), void();
  }
}

void PackedSamples::read(int64_t sample, size_t number, int64_t first, int64_t count,
                         void *out) const {
  const TokenInput input = inputs[number];
  const int64_t bytes = getByteSize(input.type);
  auto *to = static_cast<std::byte *>(out);
  // Calls `write` for the slots of a segment within [first, first + count).
  auto visitRequested = [&](const Segment &segment, auto write) {
    const int64_t begin = std::max(first, segment.slot);
    const int64_t end = std::min(first + count, segment.slot + segment.slots);
    if (begin < end)
      write(begin - segment.slot, end - begin, to + (begin - first) * bytes);
  };
  const Segment unused = forEachSegment(sample, [&](const Segment &segment) {
    visitRequested(segment, [&](int64_t from, int64_t slots, std::byte *at) {
      write(segment, from, slots, input, at);
    });
  });
  visitRequested(unused, [&](int64_t, int64_t slots, std::byte *at) {
    std::memset(at, 0, static_cast<size_t>(slots * bytes));
    if (input.feed == Feed::Documents)
      std::fill_n(reinterpret_cast<int64_t *>(at), slots, unused.document);
  });
}

} // namespace titan::rt
