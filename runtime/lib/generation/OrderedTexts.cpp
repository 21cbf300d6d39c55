#include "OrderedTexts.h"

#include <utility>

namespace titan::rt {

std::string OrderedTexts::add(size_t text, const std::string &fragment) {
  if (text == first)
    return fragment;
  held[text].text += fragment;
  return "";
}

std::string OrderedTexts::end(size_t text) {
  held[text].hasEnded = true;
  std::string shown;
  while (held[first].hasEnded) {
    held.erase(first++);
    shown += std::exchange(held[first].text, "");
  }
  return shown;
}

} // namespace titan::rt
