#include "base/schedule/Action.h"

#include <array>
#include <charconv>

namespace titan::schedule {

/// In the order of the enumerators.
static constexpr std::array<std::string_view, 11> kindNames = {
    "F",           "B",      "I",      "W",      "UNSHARD", "RESHARD",
    "REDUCE_GRAD", "SEND_F", "RECV_F", "SEND_B", "RECV_B"};

std::string_view getName(Kind kind) {
  return kindNames[static_cast<size_t>(kind)];
}

std::string toText(const Action &action) {
  std::string text = std::to_string(action.stage);
  text += getName(action.kind);
  return hasMicrobatch(action.kind) ? text + std::to_string(action.microbatch) : text;
}

/// Reads digits from the front of `text` and removes them.
static std::optional<int> takeNumber(std::string_view &text) {
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text[0] == '-')
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

static std::optional<Kind> findKind(std::string_view name) {
  for (size_t i = 0; i < kindNames.size(); ++i)
    if (kindNames[i] == name)
      return static_cast<Kind>(i);
  return std::nullopt;
}

std::optional<Action> parseAction(std::string_view text) {
  std::optional<int> stage = takeNumber(text);
  const size_t letters = std::min(text.find_first_of("0123456789"), text.size());
  std::optional<Kind> kind = findKind(text.substr(0, letters));
  if (!stage || !kind)
    return std::nullopt;
  text.remove_prefix(letters);
  Action action{*kind, *stage};
  if (hasMicrobatch(*kind)) {
    std::optional<int> microbatch = takeNumber(text);
    if (!microbatch)
      return std::nullopt;
    action.microbatch = *microbatch;
  }
  return text.empty() ? std::optional(action) : std::nullopt;
}

} // namespace titan::schedule
