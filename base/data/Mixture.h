// Data sets by weight. The path of a run's data is one path, or weights and paths in turn, as after
// Megatron-LM's --data-path: "0.7 web 0.3 code". Paths of a mixture have no spaces.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace titan {

struct WeightedPath {
  double weight; ///< positive and finite
  std::string path;
};

/// One element of weight 1 for a text that is a path. A text is a mixture if it has four words or
/// more and the first is a weight; it then has an even number of words, and each odd one is a
/// weight. None for a mixture with a mistake.
std::vector<WeightedPath> parseMixture(const std::string &text);

/// The text with each path replaced; a mixture with a mistake stays as it is.
std::string mapPaths(const std::string &text,
                     const std::function<std::string(const std::string &)> &map);

} // namespace titan
