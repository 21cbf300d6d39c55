// The valid values of a setting, and the diagnostics for others. The compiler checks files and its
// command line by these rules and stores them in the program, which checks its own settings. So
// both accept the same values with the same messages. Plain data, header-only; without MLIR and
// LibTorch.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace titan {

struct SettingRule {
  enum class Type { Any, Integer, Number, Text, Word };
  Type type = Type::Any;
  double least = 0, most = std::numeric_limits<double>::infinity(); ///< inclusive
  std::vector<std::string> choices = {};                            ///< for words
  /// A setting and its value that make this one ineffective. Empty: always effective.
  std::string idleBeside = {}, idleValue = {};
};

// Constructors for the table of an emitted program.
inline SettingRule allowIntegersFrom(double least) {
  return {SettingRule::Type::Integer, least, 0x1p53};
}
inline SettingRule allowNumbersFrom(double least) {
  return {SettingRule::Type::Number, least};
}
inline SettingRule allowNumbersWithin(double least, double most) {
  return {SettingRule::Type::Number, least, most};
}
inline SettingRule allowWords(std::vector<std::string> choices) {
  return {SettingRule::Type::Word, 0, 0, std::move(choices)};
}
inline SettingRule allowText() {
  return {SettingRule::Type::Text};
}
/// `rule`, for a setting that has no effect while the setting `beside` has the value `value`.
inline SettingRule idle(std::string beside, std::string value, SettingRule rule) {
  rule.idleBeside = std::move(beside);
  rule.idleValue = std::move(value);
  return rule;
}

/// A value as written.
struct SettingValue {
  enum class Kind { Integer, Number, Text, Word, Other };
  Kind kind = Kind::Other;
  double number = 0;
  /// Text without quotes; for Other its description; for Integer its digits, if known.
  std::string text;
  std::optional<int64_t> whole = {}; ///< Integer, unless it has more than 64 bits
  std::string help = {};             ///< why the value is no number, though it looks like one

  bool isNumber() const { return kind == Kind::Integer || kind == Kind::Number; }

  std::string print() const {
    if (kind == Kind::Text)
      return '"' + text + '"';
    if (!isNumber() || !text.empty())
      return text;
    if (whole)
      return std::to_string(*whole);
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.12g", number);
    std::string printed = digits;
    bool looksWhole = printed.find_first_not_of("-0123456789") == std::string::npos;
    // As written, to avoid `takes an integer, not 5`.
    return kind == Kind::Number && looksWhole ? printed + ".0" : printed;
  }
};

/// The codes are those of the compiler's diagnostics.
struct SettingMistake {
  enum Code : uint16_t { Unknown = 501, Type = 502, Value = 503, Idle = 509 };
  Code code;
  std::string message, help;
};

/// "a number from 0 to 1". A practically unlimited bound is named only if `given` exceeds it.
inline std::string describeRange(const SettingRule &rule, long double given) {
  auto print = [](double bound) {
    char digits[32];
    std::snprintf(digits, sizeof digits, bound < 1e15 ? "%.12g" : "%.0f", bound);
    return std::string(digits);
  };
  bool isBounded = std::isfinite(rule.most) && (rule.most < 1e15 || given > rule.most);
  return "a number from " + print(rule.least) + (isBounded ? " to " + print(rule.most) : " on");
}

/// A word as a file spells it: in quotes if it begins with a digit, as no name does.
inline std::string spellWord(const std::string &word) {
  const bool beginsWithDigit = !word.empty() && word[0] >= '0' && word[0] <= '9';
  return beginsWithDigit ? '"' + word + '"' : word;
}

/// "`constant`, `linear` and `cosine`".
inline std::string listChoices(const SettingRule &rule) {
  std::string all;
  for (size_t i = 0; i < rule.choices.size(); ++i) {
    const std::string separator = i == 0 ? "" : i + 1 == rule.choices.size() ? " and " : ", ";
    all += separator + "`" + spellWord(rule.choices[i]) + "`";
  }
  return all;
}

inline SettingMistake makeTypeMistake(SettingMistake::Code code, const std::string &path,
                                      const std::string &takes, const SettingValue &value) {
  return {code, "`" + path + "` takes " + takes + ", not " + value.print(), value.help};
}

/// The error of a value, if any.
inline std::optional<SettingMistake> findMistake(const std::string &path, const SettingRule &rule,
                                                 const SettingValue &value) {
  using Type = SettingRule::Type;
  auto checkTypeAndRange = [&](bool hasType, const char *takes) -> std::optional<SettingMistake> {
    if (!hasType)
      return makeTypeMistake(SettingMistake::Type, path, takes, value);
    // Whole numbers are compared exactly: 2^53 + 1 is more than 2^53.
    const long double number = value.whole ? static_cast<long double>(*value.whole)
                                           : static_cast<long double>(value.number);
    bool inRange = std::isfinite(number) && number >= rule.least && number <= rule.most;
    if (value.isNumber() && !inRange)
      return makeTypeMistake(SettingMistake::Value, path, describeRange(rule, number), value);
    return std::nullopt;
  };
  switch (rule.type) {
  case Type::Any:
    return std::nullopt;
  case Type::Integer:
    return checkTypeAndRange(value.kind == SettingValue::Kind::Integer, "an integer");
  case Type::Number:
    return checkTypeAndRange(value.isNumber(), "a number");
  case Type::Text:
    return checkTypeAndRange(value.kind == SettingValue::Kind::Text, "a string");
  case Type::Word:
    break;
  }
  for (const std::string &choice : rule.choices)
    if (!value.isNumber() && value.text == choice)
      return std::nullopt;
  return SettingMistake{SettingMistake::Value, "`" + path + "` cannot be " + value.print(),
                        "legal: " + listChoices(rule)};
}

/// The error if `path` is set although it has no effect, given the value of `rule.idleBeside`.
inline std::optional<SettingMistake> findIdle(const std::string &path, const SettingRule &rule,
                                              const std::string &other) {
  if (rule.idleBeside.empty() || other != rule.idleValue)
    return std::nullopt;
  const std::string beside = "`" + rule.idleBeside + "`";
  const bool isMissing = other.empty();
  return SettingMistake{
      SettingMistake::Idle,
      "`" + path + "` has no effect " +
          (isMissing ? "without " + beside : "while " + beside + " is `" + other + "`"),
      (isMissing ? "set " + beside + " too" : "give " + beside + " another value") +
          ", or leave `" + path + "` out"};
}

} // namespace titan
