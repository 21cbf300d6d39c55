// The data that a run feeds to its model: inputs int[batch, seq], identified by name. The compiler
// checks a model's inputs against this list, and the program fills them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace titan {

enum class Feed : uint8_t {
  Tokens,
  Labels,    ///< the next token of each
  Documents, ///< the index of the token's document within the sample, from 0
  Positions  ///< position within the document, from 0; within the sample, if the document starts
             ///< before it
};

struct NamedFeed {
  const char *name;
  Feed feed;
};

inline constexpr NamedFeed feeds[] = {{"tokens", Feed::Tokens},
                                      {"labels", Feed::Labels},
                                      {"documents", Feed::Documents},
                                      {"positions", Feed::Positions}};

/// The feed of an input with this name, if any.
constexpr std::optional<Feed> findFeed(std::string_view input) {
  for (const NamedFeed &one : feeds)
    if (input == one.name)
      return one.feed;
  return std::nullopt;
}

/// Whether the values are tokens; other values are smaller than the sample length.
constexpr bool givesTokens(Feed feed) {
  return feed == Feed::Tokens || feed == Feed::Labels;
}

} // namespace titan
