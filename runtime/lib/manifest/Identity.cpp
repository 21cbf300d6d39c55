#include "Identity.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

constexpr size_t longestWord = 255;

std::string toWord(const std::string &text) {
  using nlohmann::json;
  // Bytes that are not UTF-8 become U+FFFD.
  std::string word = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
                         .get<std::string>();
  for (char &c : word)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      c = '?';
  return word.size() <= longestWord ? word : "";
}

const Identity::Input *find(const std::vector<Identity::Input> &inputs, const std::string &name) {
  const auto found = std::ranges::find(inputs, name, &Identity::Input::name);
  return found == inputs.end() ? nullptr : &*found;
}

std::string describe(const Identity::Input *input) {
  if (!input)
    return "nothing";
  return input->path.empty() ? input->digest : fmt::format("'{}' ({})", input->path, input->digest);
}

} // namespace

Identity::Input Identity::makeInput(std::string name, const std::string &path, std::string digest) {
  const std::string whole = toWord(path);
  return {toWord(name),
          whole.empty() ? toWord(std::filesystem::path(path).filename().string()) : whole,
          toWord(digest)};
}

std::string describeChanges(const std::vector<Identity::Input> &then,
                            const std::vector<Identity::Input> &now) {
  std::vector<std::string> changes;
  auto compare = [&](const std::string &name) {
    const Identity::Input *before = find(then, name), *after = find(now, name);
    if (!before || !after || before->digest != after->digest)
      changes.push_back(
          fmt::format("{}: {} then, {} now", name, describe(before), describe(after)));
  };
  for (const Identity::Input &input : then)
    compare(input.name);
  for (const Identity::Input &input : now)
    if (!find(then, input.name))
      compare(input.name);
  return fmt::format("{}", fmt::join(changes, "; "));
}

} // namespace titan::rt
