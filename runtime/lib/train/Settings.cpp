#include "Settings.h"

#include "titan/runtime/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace titan::rt {

namespace {

std::string unquoted(const std::string &text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return text.substr(1, text.size() - 2);
  return text;
}

/// A number as the language writes it, with underscores between digits; empty if it is none.
std::optional<double> parseNumber(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

bool sameValue(const std::string &a, const std::string &b) {
  auto x = parseNumber(a), y = parseNumber(b);
  return x && y ? *x == *y : a == b;
}

/// Letters to insert, delete or change to get from one word to the other.
size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

} // namespace

Settings::Settings(const Program &program) : programName(program.name) {
  for (const Setting &setting : program.settings)
    values[setting.path] = {unquoted(setting.value), setting.compileTime};
}

void Settings::set(const std::string &path, const std::string &given, const std::string &origin) {
  std::string value = unquoted(given);
  auto found = values.find(path);
  if (found == values.end()) {
    std::string message = fmt::format("{}: there is no setting '{}'", origin, path);
    auto nearest = std::min_element(values.begin(), values.end(), [&](auto &a, auto &b) {
      return editDistance(path, a.first) < editDistance(path, b.first);
    });
    if (nearest != values.end())
      message += fmt::format("; did you mean '{}'?", nearest->first);
    throw UserError(message);
  }
  Value &current = found->second;
  if (current.compileTime && !sameValue(current.text, value))
    throw UserError(fmt::format("{}: '{}' is {} and was fixed when the program was compiled; to "
                                "change it, rebuild: titanc build FILE.titan --set {}={}",
                                origin, path, current.text, path, value));
  if (parseNumber(current.text) && !parseNumber(value))
    throw UserError(fmt::format("{}: '{}' takes a number, not '{}'", origin, path, value));
  current.text = value;
}

void Settings::setPair(const std::string &pair, const std::string &origin) {
  size_t equals = pair.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError(fmt::format("{} takes PATH=VALUE, not '{}'", origin, pair));
  set(pair.substr(0, equals), pair.substr(equals + 1), origin);
}

std::string Settings::text(const std::string &path, const std::string &otherwise) const {
  auto found = values.find(path);
  return found == values.end() ? otherwise : found->second.text;
}

double Settings::number(const std::string &path, double otherwise) const {
  auto found = values.find(path);
  if (found == values.end())
    return otherwise;
  auto value = parseNumber(found->second.text);
  if (!value)
    throw UserError(fmt::format("'{}' takes a number, not '{}'", path, found->second.text));
  return *value;
}

int64_t Settings::integer(const std::string &path, int64_t otherwise) const {
  double value = number(path, static_cast<double>(otherwise));
  if (value != std::floor(value) || value < 0 || value > 0x1p53)
    throw UserError(
        fmt::format("'{}' takes a whole number that is not negative, not {}", path, value));
  return static_cast<int64_t>(value);
}

std::map<std::string, std::string> Settings::all() const {
  std::map<std::string, std::string> texts;
  for (const auto &[path, value] : values)
    texts[path] = value.text;
  return texts;
}

std::string Settings::toToml() const {
  std::string toml;
  for (const auto &[path, value] : values) {
    bool bare = parseNumber(value.text) || value.text == "true" || value.text == "false";
    std::string quoted;
    for (char c : value.text)
      quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    toml += fmt::format("{} = {}{}\n", path, bare ? value.text : "\"" + quoted + "\"",
                        value.compileTime ? " # fixed when the program was compiled" : "");
  }
  return toml;
}

std::vector<std::pair<std::string, std::string>> readToml(const std::string &path) {
  std::ifstream stream(path);
  if (!stream)
    throw UserError("cannot read '" + path + "'");
  std::vector<std::pair<std::string, std::string>> pairs;
  try {
    for (const CLI::ConfigItem &item : CLI::ConfigTOML().from_config(stream)) {
      if (item.name == "++" || item.name == "--") // where a table begins and ends
        continue;
      std::string key = CLI::detail::join(item.parents, ".");
      key += (key.empty() ? "" : ".") + item.name;
      std::string value = CLI::detail::join(item.inputs, ", ");
      pairs.emplace_back(key, item.inputs.size() > 1 ? "(" + value + ")" : value);
    }
  } catch (const CLI::Error &error) {
    throw UserError(path + ": " + error.what());
  }
  return pairs;
}

double Schedule::factor(int64_t step) const {
  if (step <= warmup)
    return static_cast<double>(step) / static_cast<double>(warmup);
  if (decay == "constant")
    return 1.0;
  int64_t length = steps - warmup;
  double progress =
      std::min(1.0, static_cast<double>(step - 1 - warmup) / static_cast<double>(length));
  double fall = decay == "cosine" ? 0.5 * (1 + std::cos(M_PI * progress)) : 1 - progress;
  return to + (1 - to) * fall;
}

Schedule scheduleOf(const Settings &settings) {
  Schedule schedule{settings.integer("steps", 100), settings.integer("schedule.warmup", 0),
                    settings.text("schedule.decay", "constant"), settings.number("schedule.to", 0)};
  if (schedule.decay != "constant" && schedule.decay != "linear" && schedule.decay != "cosine")
    throw UserError("'schedule.decay' is '" + schedule.decay +
                    "', expected constant, linear or cosine");
  return schedule;
}

} // namespace titan::rt
