// Configuration files, for the compiler and for the programs that it makes: what a TOML file sets,
// with the place of everything, in the order of the file. The reading is toml++'s, which takes all
// of TOML and nothing else; what no setting can be (dates, arrays of tables) is refused here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan {

/// Bytes of the file's text, on one line.
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
  std::string text = {}; ///< of Text, without quotes and escapes
  std::vector<TomlValue> elements = {};
  TomlLocation location = {};
};

/// A value with the keys that lead to it, of tables or with dots.
struct TomlSetting {
  std::vector<TomlKey> path;
  TomlValue value;
};

struct TomlFile {
  std::vector<TomlSetting> settings;
  std::string mistake; ///< why the file cannot be used; empty: it can
  TomlLocation mistakeLocation;
};

TomlFile readToml(std::string_view text);

} // namespace titan
