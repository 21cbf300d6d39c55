#include "SettingText.h"

#include "base/Error.h"
#include "base/data/DataPaths.h"
#include "base/settings/Toml.h"
#include "base/text/ReadNumber.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace titan::rt {

std::string unquoted(const std::string &text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return text.substr(1, text.size() - 2);
  return text;
}

std::optional<double> parseNumber(const std::string &text) {
  NumberText read = readNumber(text);
  return read ? std::optional(read.number) : std::nullopt;
}

static std::string trimmed(const std::string &text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

SettingValue readValue(const std::string &text, bool isString) {
  using Kind = SettingValue::Kind;
  if (const std::string inner = unquoted(trimmed(text)); inner != trimmed(text))
    return {Kind::Text, 0, inner};
  NumberText read = readNumber(text);
  if (read)
    return {read.isWhole ? Kind::Integer : Kind::Number,
            read.number,
            {},
            read.isWhole ? std::optional(read.integer) : std::nullopt};
  if (read.isWhole && read.fault == NumberText::Fault::TooLarge)
    return {Kind::Integer, read.number, read.text};
  return {isString ? Kind::Text : Kind::Word,
          0,
          isString ? text : trimmed(text),
          {},
          whyNoNumber(text)};
}

void refuse(const TextLocation &location, const std::string &message, const std::string &help) {
  std::string caret = std::string(location.column, ' ') + '^';
  caret += std::string(location.length > 1 ? location.length - 1 : 0, '~');
  throw SourceError(message,
                    fmt::format("{}:{}:{}", location.name, location.number, location.column + 1),
                    "\n" + location.line + "\n" + caret + (help.empty() ? "" : "\nhelp: " + help));
}

SettingText readPair(const std::string &pair, const std::string &option) {
  size_t equals = pair.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError(fmt::format("{} takes PATH=VALUE, not '{}'", option, pair));
  std::string path = pair.substr(0, pair.find_last_not_of(' ', equals - 1) + 1);
  std::string value = pair.substr(std::min(pair.find_first_not_of(' ', equals + 1), pair.size()));
  return {path,
          value,
          {option, pair, 1, 0, path.size()},
          {option + " " + path, value, 1, 0, value.size()}};
}

namespace {

/// The line of a location, and the range within it.
TextLocation locationIn(const std::string &name, const std::string &text,
                        const TomlLocation &location) {
  size_t begin = text.rfind('\n', location.offset == 0 ? 0 : location.offset - 1);
  begin = location.offset == 0 || begin == std::string::npos ? 0 : begin + 1;
  size_t end = std::min(text.find_first_of("\r\n", location.offset), text.size());
  auto above = text.begin() + static_cast<std::ptrdiff_t>(begin);
  return {name, text.substr(begin, end - begin),
          static_cast<size_t>(std::count(text.begin(), above, '\n')) + 1, location.offset - begin,
          location.length};
}

/// A key as written in a path: quoted unless it is a bare key.
std::string formatKey(const std::string &key) {
  bool isBare = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-';
  });
  return isBare ? key : '"' + key + '"';
}

/// A value as the command line writes it.
std::string formatValue(const TomlValue &value, const std::string &text) {
  using Kind = TomlValue::Kind;
  switch (value.kind) {
  case Kind::Integer:
    return std::to_string(value.integer);
  case Kind::Truth:
    return value.truth ? "true" : "false";
  case Kind::Text:
    return '"' + value.text + '"';
  case Kind::Number: { // exactly as written: 5.0 is not an integer
    std::string number = text.substr(value.location.offset, value.location.length);
    return number[0] == '+' ? number.substr(1) : number;
  }
  case Kind::List:
    break;
  }
  std::string list;
  for (const TomlValue &element : value.elements)
    list += (list.empty() ? "" : ", ") + formatValue(element, text);
  return "[" + list + "]";
}

/// Longer than any configuration, because a device such as /dev/zero is endless.
constexpr size_t kLongestConfig = size_t{16} << 20;

std::string readText(const std::string &path) {
  std::ifstream stream(path);
  if (!stream)
    throw UserError("cannot read '" + path + "': " + std::strerror(errno));
  if (std::filesystem::is_directory(path))
    throw UserError("cannot read '" + path + "': it is a directory");
  std::string text(kLongestConfig + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (stream.bad() || text.size() > kLongestConfig)
    throw UserError("cannot read '" + path + "': it is longer than 16 MiB");
  return text;
}

} // namespace

namespace {

/// A file name in a configuration is relative to it, as for the compiler.
std::string relativeToConfig(const std::string &config, const std::string &path,
                             const std::string &value) {
  const std::string file = unquoted(value);
  if (!namesFile(path) || file.empty())
    return value;
  const std::filesystem::path folder = std::filesystem::path(config).parent_path();
  return '"' + mapPaths(file, [&](const std::string &one) { return (folder / one).string(); }) +
         '"';
}

} // namespace

bool namesFile(const std::string &path) {
  return path == "data.path" || path == "eval.data.path";
}

std::vector<SettingText> readConfig(const std::string &path) {
  const std::string text = readText(path);
  TomlFile file = readToml(text);
  if (!file.mistake.empty())
    refuse(locationIn(path, text, file.mistakeLocation), file.mistake + " [T0512]", "");
  std::vector<SettingText> settings;
  for (const TomlSetting &setting : file.settings) {
    std::string whole;
    for (const TomlKey &key : setting.path)
      whole += (whole.empty() ? "" : ".") + formatKey(key.text);
    settings.push_back({whole, relativeToConfig(path, whole, formatValue(setting.value, text)),
                        locationIn(path, text, setting.path.back().location),
                        locationIn(path, text, setting.value.location)});
  }
  return settings;
}

} // namespace titan::rt
