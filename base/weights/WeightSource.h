// A file or directory of weights to start from, and the prefix of its names. Plain data,
// header-only.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace titan {

/// `--init-from PATH` or `--init-from PREFIX=PATH`.
struct WeightSource {
  std::string prefix; ///< put before the names of all tensors of the path: "teacher."; may be empty
  std::string path;

  std::string text() const {
    return prefix.empty() ? path : prefix.substr(0, prefix.size() - 1) + "=" + path;
  }
};

/// A prefix consists of names with dots between; any other text before `=` belongs to the path.
inline WeightSource parseWeightSource(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view prefix = text.substr(0, equals);
  const bool isPrefix = equals != std::string_view::npos && !prefix.empty() &&
                        prefix.front() != '.' && prefix.back() != '.' &&
                        std::all_of(prefix.begin(), prefix.end(), [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 (c >= '0' && c <= '9') || c == '_' || c == '.';
                        });
  if (!isPrefix)
    return {"", std::string(text)};
  return {std::string(prefix) + ".", std::string(text.substr(equals + 1))};
}

} // namespace titan
