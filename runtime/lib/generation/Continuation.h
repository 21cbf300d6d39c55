// The text of a continuation while it is generated. It ends before the first stop text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace titan::rt {

class Continuation {
public:
  explicit Continuation(std::vector<std::string> stops) : stops(std::move(stops)) {}

  /// Adds a fragment. Returns the text that can be shown: a suffix that may become a stop text is
  /// held back.
  std::string add(const std::string &fragment);
  /// Returns the text that is held back. Called at the end.
  std::string finish();
  bool isStopped() const { return stopped; }
  /// All that has been returned.
  const std::string &text() const { return shown; }

private:
  /// Moves the first `count` bytes of `held` to `shown`, and returns them.
  std::string take(size_t count);

  std::vector<std::string> stops;
  std::string held, shown;
  bool stopped = false;
};

} // namespace titan::rt
