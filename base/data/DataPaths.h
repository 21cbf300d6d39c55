// The data sets that a setting names (`data.path`, `eval.data.path`). Its text is
//   - one path,
//   - a mixture: weights and paths in turn, as after Megatron-LM's --data-path,
//     "0.7 web 0.3 code", or
//   - evaluation sets: names and paths, "web=valid/web code=valid/code".
// Paths of mixtures and of several evaluation sets have no spaces. A word with a `/` before its
// first `=`, such as "./a=b", is a path, not a named set.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace titan {

struct DataPath {
  std::string path;
  double weight = 1;     ///< positive and finite; 1 outside of mixtures
  std::string name = {}; ///< of an evaluation set; empty: none
};

struct DataPaths {
  std::vector<DataPath> paths; ///< at least one; empty after a mistake
  std::string mistake = {};    ///< a clause for a message: "`code` is not a weight"
};

/// A text is a mixture if it has four words or more and the first is a number; it then has an even
/// number of words, and each odd one is a positive, finite number. A text names evaluation sets if
/// its first word does; then all words do, and the names differ.
DataPaths parseDataPaths(const std::string &text);

/// What is wrong with a text that names no file, as a mixture: a clause. Empty if it was hardly
/// meant as one, since its first word is no number.
std::string findMixtureMistake(const std::string &text);

/// The text with `map` applied to each path. A text with a mistake is returned unchanged.
std::string mapPaths(const std::string &text,
                     const std::function<std::string(const std::string &)> &map);

} // namespace titan
