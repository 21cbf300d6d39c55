// What a run's data give its model: inputs int[batch, seq], known by their names. The compiler
// checks a model's inputs by this list, the program fills them by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace titan {

enum class Feed : uint8_t {
  Tokens,
  Labels,    ///< the token after each
  Documents, ///< the number of its document within the sample, from 0
  Positions  ///< its place in its document, from 0; where that began before the sample, in the
             ///< sample
};

struct NamedFeed {
  const char *name;
  Feed feed;
};

inline constexpr NamedFeed feeds[] = {{"tokens", Feed::Tokens},
                                      {"labels", Feed::Labels},
                                      {"documents", Feed::Documents},
                                      {"positions", Feed::Positions}};

/// What the data give an input of this name, if anything.
constexpr std::optional<Feed> findFeed(std::string_view input) {
  for (const NamedFeed &one : feeds)
    if (input == one.name)
      return one.feed;
  return std::nullopt;
}

/// Whether the numbers are tokens; others are smaller than the sample is long.
constexpr bool givesTokens(Feed feed) {
  return feed == Feed::Tokens || feed == Feed::Labels;
}

} // namespace titan
