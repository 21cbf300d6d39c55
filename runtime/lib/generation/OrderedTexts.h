// Texts that grow at the same time, shown one after another.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace titan::rt {

/// Texts have consecutive numbers from 0. The first one that has not ended is shown as it grows.
class OrderedTexts {
public:
  /// Adds to a text. Returns what can be shown now.
  std::string add(size_t text, const std::string &fragment);
  /// Ends a text after its last fragment. Returns what can be shown now.
  std::string end(size_t text);

private:
  struct Held {
    std::string text;
    bool hasEnded = false;
  };

  size_t first = 0;
  std::map<size_t, Held> held; ///< of the texts from `first` on
};

} // namespace titan::rt
