#include "Continuation.h"

#include <algorithm>

namespace titan::rt {

std::string Continuation::take(size_t count) {
  std::string fragment = held.substr(0, count);
  held.erase(0, count);
  shown += fragment;
  return fragment;
}

std::string Continuation::add(const std::string &fragment) {
  held += fragment;
  size_t first = std::string::npos;
  for (const std::string &stop : stops)
    first = std::min(first, held.find(stop));
  if (first != std::string::npos) {
    stopped = true;
    std::string last = take(first);
    held.clear();
    return last;
  }
  // The longest suffix that begins a stop text is held back.
  size_t begun = 0;
  for (const std::string &stop : stops)
    for (size_t length = std::min(stop.size() - 1, held.size()); length > begun; --length)
      if (held.ends_with(stop.substr(0, length)))
        begun = length;
  return take(held.size() - begun);
}

std::string Continuation::finish() {
  return take(held.size());
}

} // namespace titan::rt
