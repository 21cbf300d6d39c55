// The inputs of a model that token data determine, by name; each has the dimensions [batch, seq].
// The compiler checks a model's inputs against this list, and the program fills them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace titan {

enum class Feed : uint8_t {
  Tokens,
  Labels,    ///< the next token of each
  Documents, ///< the index of the token's document within the sample, from 0
  Positions, ///< position within the document, from 0; within the sample, if the document starts
             ///< before it
  Weights,   ///< of the labels: 1 if a label counts in the loss, 0 if not; floating-point
  Used       ///< 1 if the slot holds data, 0 if packing leaves it unused
};

struct NamedFeed {
  const char *name;
  Feed feed;
};

inline constexpr NamedFeed feeds[] = {
    {"tokens", Feed::Tokens},       {"labels", Feed::Labels},   {"documents", Feed::Documents},
    {"positions", Feed::Positions}, {"weights", Feed::Weights}, {"used", Feed::Used}};

/// The feed of an input with this name, if any.
constexpr std::optional<Feed> findFeed(std::string_view input) {
  for (const NamedFeed &named : feeds)
    if (input == named.name)
      return named.feed;
  return std::nullopt;
}

/// Whether the values are token numbers, below the size of the vocabulary.
constexpr bool givesTokens(Feed feed) {
  return feed == Feed::Tokens || feed == Feed::Labels;
}

/// Whether the values are at least 0 and below the length of the sample.
constexpr bool isBelowSampleLength(Feed feed) {
  return feed == Feed::Documents || feed == Feed::Positions;
}

/// Whether the values are 0 or 1.
constexpr bool isZeroOrOne(Feed feed) {
  return feed == Feed::Weights || feed == Feed::Used;
}

} // namespace titan
