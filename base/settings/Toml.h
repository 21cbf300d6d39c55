// Configuration files, for the compiler and for its programs: the settings of a TOML file in order,
// with source locations. toml++ parses TOML. Values that no setting can have (dates, arrays of
// tables) are refused here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan {

/// A byte range of the file's text, on one line.
struct TomlLocation {
  size_t offset = 0, length = 0;
};

struct TomlKey {
  std::string text;
  TomlLocation location;
};

struct TomlValue {
  enum class Kind { Integer, Number, Truth, Text, List };
  Kind kind = Kind::Integer;
  int64_t integer = 0;
  double number = 0;
  bool truth = false;
  std::string text = {}; ///< for Text, without quotes and escapes
  std::vector<TomlValue> elements = {};
  TomlLocation location = {};
};

/// A value with its keys, from tables or dotted.
struct TomlSetting {
  std::vector<TomlKey> path;
  TomlValue value;
};

struct TomlFile {
  std::vector<TomlSetting> settings;
  std::string mistake; ///< why the file is invalid; empty: valid
  TomlLocation mistakeLocation;
};

TomlFile readToml(std::string_view text);

} // namespace titan
