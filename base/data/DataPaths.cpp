#include "base/data/DataPaths.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

namespace titan {

namespace {

std::vector<std::string> splitWords(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

/// A number that overflows or underflows is not a number: no weight can be meant by it.
std::optional<double> parseNumber(const std::string &word) {
  double number = 0;
  const char *end = word.data() + word.size();
  auto [last, error] = std::from_chars(word.data(), end, number);
  if (last != end || error == std::errc::invalid_argument)
    return std::nullopt;
  return error == std::errc() ? number : std::numeric_limits<double>::quiet_NaN();
}

bool isWeight(double number) {
  return std::isfinite(number) && number > 0;
}

/// The index of the first character of PATH in `NAME=PATH`; 0 for another word.
size_t pathStart(const std::string &word) {
  const size_t sign = word.find('=');
  return sign == std::string::npos || word.find('/') < sign ? 0 : sign + 1;
}

bool isName(const std::string &text) {
  constexpr const char *characters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !text.empty() && text.find_first_not_of(characters) == std::string::npos;
}

DataPaths mistake(const std::string &clause) {
  return {{}, clause};
}

DataPaths parseMixture(const std::vector<std::string> &words) {
  DataPaths mixture;
  for (size_t i = 0; i < words.size(); i += 2) {
    const std::optional<double> weight = parseNumber(words[i]);
    if (!weight)
      return mistake("`" + words[i] + "` is not a weight");
    if (i + 1 == words.size())
      return mistake("the weight `" + words[i] + "` has no path");
    if (!isWeight(*weight))
      return mistake("the weight `" + words[i] + "` of `" + words[i + 1] +
                     "` must be a positive, finite number");
    mixture.paths.push_back({words[i + 1], *weight});
  }
  return mixture;
}

DataPaths parseSets(const std::vector<std::string> &words) {
  DataPaths sets;
  for (const std::string &word : words) {
    const size_t start = pathStart(word);
    if (start == 0)
      return mistake("`" + word + "` has no name");
    const std::string name = word.substr(0, start - 1);
    if (!isName(name))
      return mistake("the name `" + name +
                     "` has characters other than letters, digits, `_` and `-`");
    if (start == word.size())
      return mistake("`" + name + "` has no path");
    if (std::any_of(sets.paths.begin(), sets.paths.end(),
                    [&](const DataPath &other) { return other.name == name; }))
      return mistake("two sets have the name `" + name + "`");
    sets.paths.push_back({word.substr(start), 1, name});
  }
  return sets;
}

} // namespace

DataPaths parseDataPaths(const std::string &text) {
  const std::vector<std::string> words = splitWords(text);
  if (words.size() >= 4 && parseNumber(words[0]))
    return parseMixture(words);
  if (!words.empty() && pathStart(words[0]) != 0)
    return parseSets(words);
  return {{{text}}};
}

std::string findMixtureMistake(const std::string &text) {
  const std::vector<std::string> words = splitWords(text);
  if (words.size() < 2 || !parseNumber(words[0]))
    return "";
  const DataPaths mixture = parseMixture(words);
  if (mixture.paths.size() == 1)
    return "`" + mixture.paths[0].path + "` is its only set, and needs no weight";
  return mixture.mistake;
}

std::string mapPaths(const std::string &text,
                     const std::function<std::string(const std::string &)> &map) {
  const DataPaths all = parseDataPaths(text);
  if (!all.mistake.empty())
    return text;
  if (all.paths.size() == 1 && all.paths[0].name.empty())
    return map(text);
  const std::vector<std::string> words = splitWords(text); // weights keep their spelling
  std::string mapped;
  for (size_t i = 0, path = 0; i < words.size(); ++i) {
    const DataPath &next = all.paths[path];
    const bool isWeight = next.name.empty() && i % 2 == 0;
    mapped += i ? " " : "";
    if (isWeight)
      mapped += words[i];
    else
      mapped += (next.name.empty() ? "" : next.name + "=") + map(next.path);
    path += !isWeight;
  }
  return mapped;
}

} // namespace titan
