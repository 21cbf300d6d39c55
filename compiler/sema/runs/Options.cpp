#include "compiler/sema/runs/Options.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/program/ElementTypes.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace titan::sema {

namespace {

/// The rule for values of the option's type.
SettingRule typeRule(const OptionSpec &spec) {
  using Type = SettingRule::Type;
  switch (spec.type) {
  case OptionType::Integer:
  case OptionType::Integers:
    return {Type::Integer, spec.least, spec.most};
  case OptionType::Float:
  case OptionType::Initialiser:
    return {Type::Number, spec.least, spec.most};
  case OptionType::String:
    return allowText();
  case OptionType::Choice:
    return allowWords(spec.choices);
  case OptionType::Pair:
  case OptionType::Words:
  case OptionType::Dimension:
  case OptionType::Declaration:
  case OptionType::Adapter:
    break;
  case OptionType::Bool:
    return allowWords({"false", "true"});
  }
  return {};
}

} // namespace

SettingRule makeRule(const OptionSpec &spec) {
  return spec.fixed == Fixed::Compile ? typeRule(spec) : makeIdleRule(spec);
}

SettingRule makeIdleRule(const OptionSpec &spec) {
  SettingRule rule = typeRule(spec);
  const bool isAlwaysEffective =
      spec.needs.empty() || (spec.fixed == Fixed::Compile && spec.idleValue.empty());
  if (isAlwaysEffective)
    return rule;
  return idle(spec.needs.substr(0, spec.needs.find('=')), spec.idleValue, std::move(rule));
}

namespace {

SettingValue asSetting(const Value &value) {
  using Kind = SettingValue::Kind;
  if (value.isNumber())
    return {value.isInt() ? Kind::Integer : Kind::Number,
            value.number(),
            {},
            value.isInt() ? std::optional(value.integer) : std::nullopt};
  if (value.kind == Value::Kind::String)
    return {Kind::Text, 0, value.text};
  return {value.kind == Value::Kind::Word ? Kind::Word : Kind::Other, 0, value.print()};
}

} // namespace

Value report(const SettingMistake &mistake, Location at, DiagnosticEngine &diags) {
  static_assert(static_cast<int>(Code::OptionType) == SettingMistake::Type &&
                static_cast<int>(Code::OptionValue) == SettingMistake::Value &&
                static_cast<int>(Code::UnknownOption) == SettingMistake::Unknown &&
                static_cast<int>(Code::OptionWithoutEffect) == SettingMistake::Idle);
  Diagnostic &diag = diags.report(static_cast<Code>(mistake.code), at, mistake.message);
  if (!mistake.help.empty())
    diag.help(mistake.help);
  return {};
}

namespace {

Value refuse(Code code, const OptionSpec &spec, const std::string &takes, const Value &value,
             Location at, DiagnosticEngine &diags) {
  auto mistake = static_cast<SettingMistake::Code>(code); // equal numbers, as report() asserts
  return report(makeTypeMistake(mistake, spec.path, takes, asSetting(value)), at, diags);
}

bool inRange(const OptionSpec &spec, double number) {
  return std::isfinite(number) && number >= spec.least && number <= spec.most;
}

bool isElementType(const OptionSpec &spec) {
  return spec.path.rfind("precision.", 0) == 0;
}

Value checkChoice(const OptionSpec &spec, const Value &value, Location at,
                  DiagnosticEngine &diags) {
  if (isPath(spec, value))
    return value;
  std::string given = value.kind == Value::Kind::String ? value.text : value.print();
  SettingRule rule = allowWords(spec.choices);
  std::optional<SettingMistake> mistake = findMistake(spec.path, rule, asSetting(value));
  if (!mistake)
    return Value::ofWord(given);
  static const std::map<std::string, std::string> foreign = {
      {"float32", "f32"}, {"fp32", "f32"},      {"float", "f32"},  {"float64", "f64"},
      {"fp64", "f64"},    {"double", "f64"},    {"half", "f16"},   {"float16", "f16"},
      {"fp16", "f16"},    {"bfloat16", "bf16"}, {"bfloat", "bf16"}};
  if (auto theirs = foreign.find(given); isElementType(spec) && theirs != foreign.end())
    given = theirs->second;
  if (given != "f16" || !isElementType(spec)) {
    bool isMeant = std::count(spec.choices.begin(), spec.choices.end(), given) != 0;
    if (isMeant)
      mistake->help = "write `" + given + "`";
    else if (spec.pathEnd && given.ends_with(*spec.pathEnd))
      mistake->help = "a file's name is in quotes: `\"" + given + "\"`";
    return report(*mistake, at, diags);
  }
  reportHalf(at, diags);
  return {};
}

/// The exclusive upper bound; empty if the bound is inclusive.
std::optional<double> boundAbove(const OptionSpec &spec) {
  const double above = std::nextafter(spec.most, std::numeric_limits<double>::infinity());
  bool isBelow = std::trunc(above) == above && std::trunc(spec.most) != spec.most;
  return isBelow ? std::optional(above) : std::nullopt;
}

/// " from 0 to below 1".
std::string boundsText(const OptionSpec &spec) {
  auto print = [](double bound) { return Value::ofFloat(bound).print(); };
  std::string text;
  if (std::isfinite(spec.least))
    text += " from " + print(spec.least);
  if (std::optional<double> above = boundAbove(spec))
    text += " to below " + print(*above);
  else if (std::isfinite(spec.most))
    text += " to " + print(spec.most);
  return text;
}

Value checkPair(const OptionSpec &spec, const Value &value, Location at, DiagnosticEngine &diags) {
  if (value.kind != Value::Kind::List || value.elements.size() != 2 ||
      !value.elements[0].isNumber() || !value.elements[1].isNumber())
    return refuse(Code::OptionType, spec, "two numbers in parentheses", value, at, diags);
  std::vector<Value> pair;
  for (const Value &element : value.elements) {
    if (!inRange(spec, element.number()))
      return refuse(Code::OptionValue, spec, "numbers" + boundsText(spec), value, at, diags);
    pair.push_back(Value::ofFloat(element.number()));
  }
  return Value::ofList(std::move(pair));
}

/// The elements of a list; any other value is its only element.
std::vector<Value> getElements(const Value &value) {
  return value.kind == Value::Kind::List ? value.elements : std::vector<Value>{value};
}

Value checkIntegers(const OptionSpec &spec, const Value &value, Location at,
                    DiagnosticEngine &diags) {
  std::vector<Value> numbers = getElements(value);
  for (const Value &number : numbers) {
    if (!number.isInt())
      return refuse(Code::OptionType, spec, "integers: `(4, 8, 12)`", value, at, diags);
    if (!inRange(spec, number.number()))
      return refuse(Code::OptionValue, spec, describeRange(makeRule(spec), number.number()), number,
                    at, diags);
  }
  return Value::ofList(std::move(numbers));
}

Value checkWords(const OptionSpec &spec, const Value &value, Location at, DiagnosticEngine &diags) {
  const std::string example = spec.samples.empty() ? "[Attention, FeedForward]" : spec.samples[0];
  std::vector<Value> words = getElements(value);
  for (Value &word : words) {
    bool isName = word.kind == Value::Kind::Word || word.kind == Value::Kind::String;
    if (spec.choices.empty())
      word = isName ? Value::ofWord(word.text)
                    : refuse(Code::OptionType, spec, "names: `" + example + "`", word, at, diags);
    else
      word = checkChoice(spec, word, at, diags);
    if (word.isError())
      return {};
  }
  return Value::ofList(std::move(words));
}

} // namespace

const char *spelling(OptionType type) {
  switch (type) {
  case OptionType::Integer:
    return "integer";
  case OptionType::Float:
    return "number";
  case OptionType::Pair:
    return "two numbers";
  case OptionType::String:
    return "string";
  case OptionType::Integers:
    return "integers";
  case OptionType::Words:
    return "words";
  case OptionType::Bool:
    return "boolean";
  case OptionType::Initialiser:
    return "number or distribution";
  case OptionType::Adapter:
    return "function or block";
  case OptionType::Declaration:
    return "name";
  case OptionType::Dimension:
    return "dimension";
  case OptionType::Choice:
    break;
  }
  return "word";
}

std::vector<std::string> getSampleValues(const OptionSpec &spec) {
  if (!spec.samples.empty())
    return spec.samples;
  int64_t base = spec.initial.isInt()        ? spec.initial.integer
                 : std::isfinite(spec.least) ? static_cast<int64_t>(spec.least)
                                             : 0;
  switch (spec.type) {
  case OptionType::Integer:
    return {std::to_string(base + 1), std::to_string(base + 2)};
  case OptionType::Float:
    return {"0.25", "0.5"};
  case OptionType::Pair:
    return {"(0.1, 0.2)", "(0.3, 0.4)"};
  case OptionType::String:
    return {"\"a\"", "\"b\""};
  case OptionType::Integers:
    return {"1", "[0, 1]"};
  case OptionType::Bool:
    return {"true", "false"};
  case OptionType::Initialiser:
    return {"0.5", "normal(0.5)"};
  case OptionType::Adapter:
    return {"none", "LowRank(_)"};
  case OptionType::Declaration: // the visible declarations
  case OptionType::Dimension:   // the dimensions of the model's inputs
  case OptionType::Words:
  case OptionType::Choice:
    break;
  }
  return spec.choices;
}

bool isPath(const OptionSpec &spec, const Value &value) {
  return spec.pathEnd && value.kind == Value::Kind::String && value.text.ends_with(*spec.pathEnd);
}

Value checkOption(const OptionSpec &spec, const Value &value, Location at,
                  DiagnosticEngine &diags) {
  if (value.isError())
    return value;
  switch (spec.type) {
  case OptionType::Choice:
    return checkChoice(spec, value, at, diags);
  case OptionType::Integers:
    return checkIntegers(spec, value, at, diags);
  case OptionType::Words:
    return checkWords(spec, value, at, diags);
  case OptionType::Pair:
    return checkPair(spec, value, at, diags);
  case OptionType::Bool:
    if (value.kind != Value::Kind::Bool)
      return refuse(Code::OptionType, spec, "true or false", value, at, diags);
    return value;
  case OptionType::Adapter:     // readAdapter() checks it
  case OptionType::Declaration: // the lookup checked the name
    return value;
  case OptionType::Dimension: // resolveDataDims() checks the name
    if ((value.kind != Value::Kind::Word && value.kind != Value::Kind::String) ||
        value.text.empty()) {
      SettingMistake mistake = makeTypeMistake(SettingMistake::Type, spec.path,
                                               "the name of a dimension", asSetting(value));
      mistake.help = "name " + spec.doc;
      return report(mistake, at, diags);
    }
    return Value::ofWord(value.text);
  case OptionType::String:
  case OptionType::Integer:
  case OptionType::Float:
  case OptionType::Initialiser:
    break;
  }
  const bool isNumber = spec.type == OptionType::Float && value.isNumber();
  if (isNumber && boundAbove(spec) && !inRange(spec, value.number()))
    return refuse(Code::OptionValue, spec, "a number" + boundsText(spec), value, at, diags);
  if (auto mistake = findMistake(spec.path, makeRule(spec), asSetting(value)))
    return report(*mistake, at, diags);
  bool isFloat = spec.type == OptionType::Float;
  return isFloat ? Value::ofFloat(value.number()) : value;
}

} // namespace titan::sema
