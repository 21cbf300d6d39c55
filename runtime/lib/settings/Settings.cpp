#include "Settings.h"

#include "base/Error.h"
#include "base/data/DataPaths.h"
#include "base/settings/UnknownSetting.h"
#include "base/text/ReadNumber.h"
#include "base/text/ShellWord.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// A list in the syntax of the language, `(0.9, 0.95)`, or of TOML, `[0.9, 0.95]`.
bool isList(const std::string &text) {
  return text.size() >= 2 && (text.front() == '(' || text.front() == '[');
}

/// Elements are numbers and words; lists are not nested.
std::vector<std::string> splitList(const std::string &list) {
  std::vector<std::string> elements;
  std::string inner = list.substr(1, list.size() - 2), element;
  for (char c : inner + ",")
    if (c == ',' && !element.empty())
      elements.push_back(unquoted(std::exchange(element, "")));
    else if (c != ',' && c != ' ')
      element += c;
  return elements;
}

/// Whether two texts have the same value, such as 0.1 and 1e-1.
bool sameValue(const std::string &a, const std::string &b) {
  if (isList(a) && isList(b)) {
    std::vector<std::string> x = splitList(a), y = splitList(b);
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), sameValue);
  }
  auto x = parseNumber(a), y = parseNumber(b);
  return x && y ? *x == *y : a == b;
}

/// A help text with the command that compiles the program with this setting.
std::string rebuildHelp(const SettingText &text) {
  // The compiler requires quotes around text, like its language.
  const bool isName = namesFile(text.path) && text.value.rfind('"', 0) != 0;
  return "rebuild to change it: `titanc build FILE.titan --set " +
         forShell(text.path + "=" + (isName ? '"' + text.value + '"' : text.value)) + "`";
}

/// Compile-time settings that are not options: model arguments and rules for parameters.
bool isOfModel(const std::string &path) {
  for (const char *beginning : {"model.", "parameters.", "optimizer.group."})
    if (path.rfind(beginning, 0) == 0)
      return true;
  return false;
}

/// Words that a program accepts only if it was compiled with them.
bool isCompiledIn(const SettingText &text) {
  const std::string word = unquoted(text.value);
  return text.path == "on_nonfinite" && (word == "skip" || word == "warn");
}

/// The message with the code of the compiler's diagnostic.
std::string withCode(const SettingMistake &mistake) {
  return fmt::format("{} [T{:04}]", mistake.message, static_cast<int>(mistake.code));
}

} // namespace

Settings::Settings(const Program &program) {
  for (const Setting &setting : program.settings)
    values[setting.path] = {unquoted(setting.value), setting.compileTime, setting.rule};
}

void Settings::refuseUnknown(const SettingText &text) const {
  if (isOfModel(text.path))
    refuse(text.pathLocation, "`" + text.path + "` was set when the program was compiled",
           rebuildHelp(text));
  std::vector<std::string> known;
  for (const auto &[path, value] : values)
    known.push_back(path);
  refuse(text.pathLocation,
         withCode({SettingMistake::Unknown, "there is no option `" + text.path + "`", {}}),
         helpForUnknown(text.path, known));
}

void Settings::set(const SettingText &text) {
  auto found = values.find(text.path);
  if (found == values.end())
    refuseUnknown(text);
  Value &current = found->second;
  bool isText = current.rule.type == SettingRule::Type::Text;
  SettingValue value = readValue(text.value, isText);
  std::string given = isText || value.isNumber() ? unquoted(text.value) : value.text;
  if (current.compileTime && !sameValue(current.text, given))
    refuse(text.valueLocation,
           "`" + text.path + "` is " + (current.text.empty() ? "empty" : current.text) +
               ", fixed when the program was compiled",
           rebuildHelp(text));
  if (auto mistake = findMistake(text.path, current.rule, value))
    refuse(text.valueLocation, withCode(*mistake),
           isCompiledIn(text) ? rebuildHelp(text) : mistake->help);
  current.text = given;
  current.setAt = text.pathLocation;
}

void Settings::check() const {
  for (const auto &[path, value] : values)
    if (!value.setAt.name.empty())
      if (auto mistake = findIdle(path, value.rule, text(value.rule.idleBeside, "")))
        refuse(value.setAt, withCode(*mistake), mistake->help);
}

std::string Settings::text(const std::string &path, const std::string &fallback) const {
  auto found = values.find(path);
  return found == values.end() ? fallback : found->second.text;
}

double Settings::number(const std::string &path, double fallback) const {
  auto found = values.find(path);
  return found == values.end() ? fallback : parseNumber(found->second.text).value();
}

std::string Settings::resolveAuto(const std::string &path, const std::string &other,
                                  const std::string &fallback) const {
  const std::string own = text(path, "auto");
  return own == "auto" ? text(other, fallback) : own;
}

int64_t Settings::integer(const std::string &path, int64_t fallback) const {
  return static_cast<int64_t>(number(path, static_cast<double>(fallback)));
}

double Settings::argument(const std::string &path) const {
  const Value &value = values.at(path);
  const std::vector<std::string> &words = value.rule.choices;
  if (words.empty())
    return parseNumber(value.text).value();
  return static_cast<double>(std::find(words.begin(), words.end(), value.text) - words.begin());
}

std::map<std::string, std::string> Settings::all() const {
  std::map<std::string, std::string> texts;
  for (const auto &[path, value] : values)
    texts[path] = value.text;
  return texts;
}

namespace {

std::string canonicalText(const std::string &text) {
  if (isList(text)) {
    std::string list;
    for (const std::string &element : splitList(text))
      list += (list.empty() ? "" : ", ") + canonicalText(element);
    return "(" + list + ")";
  }
  std::optional<double> number = parseNumber(text);
  return number ? fmt::format("{}", *number) : text;
}

} // namespace

std::map<std::string, std::string> Settings::canonical() const {
  std::map<std::string, std::string> texts = all();
  for (auto &[path, text] : texts)
    text = canonicalText(text);
  return texts;
}

namespace {

/// A number, boolean, word or a list of them in TOML syntax.
std::string inToml(const std::string &text) {
  if (isList(text)) {
    std::string list;
    for (const std::string &element : splitList(text))
      list += (list.empty() ? "" : ", ") + inToml(element);
    return "[" + list + "]";
  }
  if (NumberText number = readNumber(text))
    return number.text;
  if (text == "true" || text == "false")
    return text;
  std::string quoted;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else
      quoted += byte < 0x20 || byte == 0x7f ? fmt::format("\\u{:04x}", byte) : std::string(1, c);
  }
  return '"' + quoted + '"';
}

/// Whether the text is UTF-8, as TOML requires.
bool isUtf8(const std::string &text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80             ? 1
                          : (lead & 0xe0) == 0xc0 ? 2
                          : (lead & 0xf0) == 0xe0 ? 3
                          : (lead & 0xf8) == 0xf0 ? 4
                                                  : 0;
    if (length == 0 || i + length > text.size())
      return false;
    uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80)
        return false;
      code = code << 6 | (next & 0x3f);
    }
    constexpr uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (code < least[length - 1] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
      return false;
    i += length;
  }
  return true;
}

/// With `\xe9` for each byte that is not printable ASCII.
std::string inAscii(const std::string &text) {
  std::string ascii;
  for (unsigned char byte : text)
    ascii += byte >= 0x20 && byte < 0x7f ? std::string(1, static_cast<char>(byte))
                                         : fmt::format("\\x{:02x}", byte);
  return ascii;
}

/// The compiler's value of an unset setting.
bool isNothing(const std::string &text) {
  return text.empty() || text == "0" || (isList(text) && splitList(text).empty());
}

} // namespace

/// Whether the setting can be repeated in TOML. TOML does not allow both `recompute` and
/// `recompute.every`, and at most one of them is in effect.
bool Settings::isInForce(const std::string &path, const Value &value) const {
  if (value.compileTime && isNothing(value.text))
    return false;
  const std::string inner = path + ".";
  for (auto next = values.lower_bound(inner);
       next != values.end() && next->first.starts_with(inner); ++next)
    if (isInForce(next->first, next->second))
      return false;
  return !findIdle(path, value.rule, text(value.rule.idleBeside, ""));
}

std::string Settings::toToml() const {
  // The reader may use another working directory.
  auto makeAbsolute = [](const std::string &path, const std::string &text) {
    return namesFile(path) && !text.empty()
               ? mapPaths(text,
                          [](const std::string &one) {
                            return std::filesystem::absolute(one).lexically_normal().string();
                          })
               : text;
  };
  std::string toml;
  for (const auto &[path, value] : values) {
    const std::string text = makeAbsolute(path, value.text);
    if (!isUtf8(text)) // TOML cannot represent it
      toml += fmt::format("# {} = {} # is not UTF-8: set it when the program starts\n", path,
                          inAscii(text));
    else
      toml += fmt::format("{}{} = {}{}\n", isInForce(path, value) ? "" : "# ", path, inToml(text),
                          value.compileTime ? " # fixed when the program was compiled" : "");
  }
  return toml;
}

} // namespace titan::rt
