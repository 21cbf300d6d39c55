// Settings as they are written, on the command line or in a configuration file, with the place of
// each, so that a mistake is shown where it is.
#pragma once

#include "base/settings/SettingRule.h"

#include <optional>
#include <string>
#include <vector>

namespace titan::rt {

/// A part of a line.
struct TextLocation {
  std::string name; ///< "--set steps", "run.toml"
  std::string line;
  size_t number = 1;             ///< of the line, from 1
  size_t column = 0, length = 0; ///< from 0
};

struct SettingText {
  std::string path, value; ///< the value as it is written, with its quotes
  TextLocation pathLocation, valueLocation;
};

/// "path=value", as `option` takes it.
SettingText readPair(const std::string &pair, const std::string &option);

/// The settings of a TOML file, keys joined by dots. What is no TOML throws SourceError.
std::vector<SettingText> readConfig(const std::string &path);

/// Whether the setting is the name of a file.
bool namesFile(const std::string &path);

/// A number as the language writes it (base/text/ReadNumber.h); nothing if it is none.
std::optional<double> parseNumber(const std::string &text);

/// A string without its quotes, if it has any.
std::string unquoted(const std::string &text);

/// What a text stands for. Where a string is meant, one without quotes is one too, as shells take
/// quotes away.
SettingValue readValue(const std::string &text, bool isString);

/// Throws SourceError.
[[noreturn]] void refuse(const TextLocation &location, const std::string &message,
                         const std::string &help);

} // namespace titan::rt
