#include "SettingText.h"

#include "titan/runtime/error.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace titan::rt {

std::string unquoted(const std::string &text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return text.substr(1, text.size() - 2);
  return text;
}

std::optional<double> parseNumber(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool isWord = std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalpha(c) && c != 'e' && c != 'E'; // `inf`, `nan`
  });
  if (error != std::errc() || end != text.data() + text.size() || isWord)
    return std::nullopt;
  return value;
}

SettingValue readValue(const std::string &text, bool isString) {
  using Kind = SettingValue::Kind;
  if (unquoted(text) != text)
    return {Kind::Text, 0, unquoted(text)};
  if (std::optional<double> number = parseNumber(text)) {
    bool isWhole = text.find_first_not_of("-0123456789_") == std::string::npos;
    return {isWhole ? Kind::Integer : Kind::Number, *number, {}};
  }
  return {isString ? Kind::Text : Kind::Word, 0, text};
}

void refuse(const TextPlace &place, const std::string &message, const std::string &help) {
  std::string caret = std::string(place.column, ' ') + '^';
  caret += std::string(place.length > 1 ? place.length - 1 : 0, '~');
  throw PlacedError(message, fmt::format("{}:{}:{}", place.name, place.number, place.column + 1),
                    "\n" + place.line + "\n" + caret + (help.empty() ? "" : "\nhelp: " + help));
}

SettingText readPair(const std::string &pair, const std::string &option) {
  size_t equals = pair.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError(fmt::format("{} takes PATH=VALUE, not '{}'", option, pair));
  std::string path = pair.substr(0, equals), value = pair.substr(equals + 1);
  return {
      path, value, {option, pair, 1, 0, equals}, {option + " " + path, value, 1, 0, value.size()}};
}

namespace {

std::string trimmed(const std::string &text) {
  size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// The path of a key, without blanks around its dots.
std::string joined(const std::string &section, const std::string &key) {
  std::string path = section.empty() ? key : section + "." + key;
  path.erase(std::remove_if(path.begin(), path.end(),
                            [](unsigned char c) { return std::isspace(c) || c == '"'; }),
             path.end());
  return path;
}

/// Where a line's value ends: before a comment that no string contains.
size_t endOfValue(const std::string &line, size_t begin) {
  bool inString = false;
  size_t end = begin;
  for (; end < line.size() && (inString || line[end] != '#'); ++end)
    inString ^= line[end] == '"' && (end == 0 || line[end - 1] != '\\');
  return end;
}

/// The library that reads the file knows no places; they are found again by the keys.
std::map<std::string, SettingText> findPlaces(const std::string &name) {
  std::map<std::string, SettingText> found;
  std::ifstream stream(name);
  std::string section, line;
  for (size_t number = 1; std::getline(stream, line); ++number) {
    std::string text = trimmed(line);
    size_t equals = line.find('=');
    if (text.size() > 1 && text[0] == '[' && text.find(']') != std::string::npos)
      section = text.substr(1, text.find(']') - 1);
    else if (equals != std::string::npos && text[0] != '#') {
      size_t key = line.find_first_not_of(" \t");
      std::string own = trimmed(line.substr(key, equals - key));
      size_t begin = std::min(line.find_first_not_of(" \t", equals + 1), line.size());
      std::string value = trimmed(line.substr(begin, endOfValue(line, begin) - begin));
      found[joined(section, own)] = {{},
                                     value,
                                     {name, line, number, key, own.size()},
                                     {name, line, number, begin, value.size()}};
    }
  }
  return found;
}

} // namespace

std::vector<SettingText> readToml(const std::string &path) {
  std::ifstream stream(path);
  if (!stream)
    throw UserError("cannot read '" + path + "'");
  std::map<std::string, SettingText> places = findPlaces(path);
  std::vector<SettingText> settings;
  try {
    for (const CLI::ConfigItem &item : CLI::ConfigTOML().from_config(stream)) {
      if (item.name == "++" || item.name == "--") // where a table begins and ends
        continue;
      std::string key = CLI::detail::join(item.parents, ".");
      key += (key.empty() ? "" : ".") + item.name;
      std::string value = CLI::detail::join(item.inputs, ", ");
      if (item.inputs.size() > 1)
        value = "(" + value + ")";
      auto found = places.find(key);
      SettingText text = found == places.end() ? readPair(key + "=" + value, path) : found->second;
      if (item.inputs.size() > 1 || text.value.empty())
        text.value = value;
      text.path = key;
      settings.push_back(std::move(text));
    }
  } catch (const CLI::Error &error) {
    throw UserError(path + ": " + error.what());
  }
  return settings;
}

} // namespace titan::rt
