// Settings as written on the command line or in a configuration file, with their source locations
// for diagnostics.
#pragma once

#include "base/settings/SettingRule.h"

#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

/// A range of one line.
struct TextLocation {
  std::string name; ///< "--set steps", "run.toml"
  std::string line;
  size_t number = 1;             ///< line number, from 1
  size_t column = 0, length = 0; ///< from 0
};

/// A setting as written, where it was written.
struct SettingText {
  std::string path, value; ///< the value as written, with its quotes
  TextLocation pathLocation, valueLocation;
};

/// Parses "path=value", the argument of `option`.
SettingText readPair(const std::string &pair, const std::string &option);

/// The settings of a TOML file, with dotted keys. Invalid TOML throws SourceError.
std::vector<SettingText> readConfig(const std::string &path);

/// Whether the setting is a file name.
bool namesFile(const std::string &path);

/// A number in the language's syntax (base/text/ReadNumber.h), if it is one.
std::optional<double> parseNumber(const std::string &text);

/// The string without its quotes, if any.
std::string unquoted(const std::string &text);

/// The value of a text. A string may lack quotes, because shells remove them.
SettingValue readValue(const std::string &text, bool isString);

/// Throws SourceError.
[[noreturn]] void refuse(const TextLocation &location, const std::string &message,
                         const std::string &help);

} // namespace titan::rt
