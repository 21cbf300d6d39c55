#include "base/data/Mixture.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

namespace titan {

namespace {

std::vector<std::string> wordsOf(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

std::optional<double> weightOf(const std::string &word) {
  double weight = 0;
  const char *end = word.data() + word.size();
  auto [last, error] = std::from_chars(word.data(), end, weight);
  if (error != std::errc() || last != end || !std::isfinite(weight) || weight <= 0)
    return std::nullopt;
  return weight;
}

} // namespace

std::vector<WeightedPath> parseMixture(const std::string &text) {
  const std::vector<std::string> words = wordsOf(text);
  if (words.size() < 4 || !weightOf(words[0]))
    return {{1, text}};
  std::vector<WeightedPath> components;
  for (size_t i = 0; i < words.size(); i += 2) {
    const std::optional<double> weight = weightOf(words[i]);
    if (!weight || i + 1 == words.size())
      return {};
    components.push_back({*weight, words[i + 1]});
  }
  return components;
}

std::string mapPaths(const std::string &text,
                     const std::function<std::string(const std::string &)> &map) {
  const std::vector<WeightedPath> components = parseMixture(text);
  if (components.empty())
    return text;
  if (components.size() == 1)
    return map(components[0].path);
  const std::vector<std::string> words = wordsOf(text); // weights keep their spelling
  std::string mapped;
  for (size_t i = 0; i < words.size(); ++i)
    mapped += (i ? " " : "") + (i % 2 ? map(words[i]) : words[i]);
  return mapped;
}

} // namespace titan
