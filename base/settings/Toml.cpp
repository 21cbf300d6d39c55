#include "base/settings/Toml.h"

#include <algorithm>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace titan {

namespace {

/// Converts lines and columns of toml++, which count characters, to byte offsets.
class LocationMap {
public:
  explicit LocationMap(std::string_view text) : text(text) {
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n')
        starts.push_back(i + 1);
  }

  TomlLocation of(const toml::source_region &region) const {
    size_t begin = getOffset(region.begin), end = getOffset(region.end);
    size_t lineEnd = std::min(text.find_first_of("\r\n", begin), text.size());
    return {begin, std::clamp<size_t>(end > begin ? end - begin : 0, 1,
                                      std::max<size_t>(1, lineEnd - begin))};
  }

private:
  size_t getOffset(const toml::source_position &position) const {
    if (position.line == 0 || position.line > starts.size())
      return text.size();
    size_t at = starts[position.line - 1];
    for (size_t column = 1; column < position.column && at < text.size(); ++column)
      do
        ++at;
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
    return at;
  }

  std::string_view text;
  std::vector<size_t> starts = {0};
};

class Reader {
public:
  explicit Reader(std::string_view text) : locations(text) {}

  TomlFile read(std::string_view text) {
    toml::parse_result parsed = toml::parse(text);
    if (!parsed) {
      std::string why(parsed.error().description());
      // "Error while parsing a key-value pair: cannot redefine ...": the location makes the first
      // clause redundant.
      if (size_t colon = why.find(": "); why.rfind("Error while", 0) == 0 && colon != why.npos)
        why = why.substr(colon + 2);
      refuse("this is not TOML: " + why, locations.of(parsed.error().source()));
      return std::move(file);
    }
    addTable(parsed.table(), {});
    auto begin = [](const TomlSetting &setting) { return setting.path.back().location.offset; };
    std::sort(file.settings.begin(), file.settings.end(),
              [&](const auto &a, const auto &b) { return begin(a) < begin(b); });
    if (!file.mistake.empty())
      file.settings.clear();
    return std::move(file);
  }

private:
  void refuse(std::string mistake, TomlLocation location) {
    bool isFirst = file.mistake.empty() || location.offset < file.mistakeLocation.offset;
    if (isFirst) {
      file.mistake = std::move(mistake);
      file.mistakeLocation = location;
    }
  }

  void addTable(const toml::table &table, const std::vector<TomlKey> &above) {
    for (const auto &[key, node] : table) {
      std::vector<TomlKey> path = above;
      path.push_back({std::string(key.str()), locations.of(key.source())});
      if (const toml::table *inner = node.as_table())
        addTable(*inner, path);
      else
        file.settings.push_back({std::move(path), buildValue(node)});
    }
  }

  TomlValue buildValue(const toml::node &node) {
    TomlValue value;
    value.location = locations.of(node.source());
    if (auto *integer = node.as_integer()) {
      value.integer = integer->get();
    } else if (auto *number = node.as_floating_point()) {
      value.kind = TomlValue::Kind::Number;
      value.number = number->get();
    } else if (auto *truth = node.as_boolean()) {
      value.kind = TomlValue::Kind::Truth;
      value.truth = truth->get();
    } else if (auto *text = node.as_string()) {
      value.kind = TomlValue::Kind::Text;
      value.text = text->get();
    } else if (auto *array = node.as_array()) {
      value.kind = TomlValue::Kind::List;
      for (const toml::node &element : *array)
        value.elements.push_back(buildValue(element));
    } else {
      refuse(node.is_table() ? "a setting cannot be a list of tables"
                             : "a setting cannot be a date or a time",
             value.location);
    }
    return value;
  }

  LocationMap locations;
  TomlFile file;
};

} // namespace

TomlFile readToml(std::string_view text) {
  return Reader(text).read(text);
}

} // namespace titan
