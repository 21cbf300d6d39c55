// A continuation while it is written: up to a stop text, which is not part of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace titan::rt {

class Continuation {
public:
  explicit Continuation(std::vector<std::string> stops) : stops(std::move(stops)) {}

  /// Adds a fragment. Returns what can be shown: not the beginning of what may become a stop text.
  std::string add(const std::string &fragment);
  /// Returns the rest, if no stop text came.
  std::string finish();
  bool isStopped() const { return stopped; }
  /// All that has been returned.
  const std::string &text() const { return shown; }

private:
  std::string take(size_t count);

  std::vector<std::string> stops;
  std::string held, shown;
  bool stopped = false;
};

} // namespace titan::rt
