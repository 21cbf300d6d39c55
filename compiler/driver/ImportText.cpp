#include "compiler/driver/ImportText.h"

#include <cctype>
#include <charconv>
#include <cmath>

namespace titan::driver {

/// Exact and short: `500000` for 500000.0, `1e-5`.
static std::string printNumber(double number) {
  constexpr double integers = 1e15; // below it, float64 has every integer
  if (number == std::floor(number) && std::fabs(number) < integers)
    return std::to_string(static_cast<int64_t>(number));
  char digits[32];
  // A large number without a point would be an integer beyond 64 bits.
  const bool isLarge = std::fabs(number) >= integers;
  std::string text(
      digits,
      isLarge
          ? std::to_chars(digits, digits + sizeof digits, number, std::chars_format::scientific).ptr
          : std::to_chars(digits, digits + sizeof digits, number).ptr);
  if (size_t exponent = text.find('e'); exponent != text.npos) {
    size_t first = text.find_first_of("123456789", exponent);
    bool isNegative = text[exponent + 1] == '-';
    text = text.substr(0, exponent) + (isNegative ? "e-" : "e") + text.substr(first);
  }
  return text;
}

static std::string printString(const std::string &text) {
  std::string out = "\"";
  for (char c : text)
    out += c == '\n'               ? "\\n"
           : c == '\t'             ? "\\t"
           : c == '"' || c == '\\' ? std::string{'\\', c}
                                   : std::string{c};
  return out + '"';
}

static std::string print(const sema::Value &value) {
  switch (value.kind) {
  case sema::Value::Kind::Float:
    return std::isinf(value.real) ? value.print() : printNumber(value.real);
  case sema::Value::Kind::String:
    return printString(value.text);
  case sema::Value::Kind::List: {
    std::string all;
    for (const sema::Value &element : value.elements)
      all += (all.empty() ? "" : ", ") + print(element);
    return "[" + all + "]";
  }
  default:
    return value.print();
  }
}

/// A comment in lines of at most 100 characters; empty without keys.
static std::string listIgnored(const std::vector<std::string> &keys) {
  if (keys.empty())
    return "";
  std::string text, line = "# Keys that do not change the model:";
  constexpr size_t longest = 98;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string word = keys[i] + (i + 1 < keys.size() ? "," : ".");
    if (line.size() + 1 + word.size() > longest) {
      text += line + "\n";
      line = "#";
    }
    line += " " + word;
  }
  return text + line + "\n";
}

std::string makeImportText(const ImportedModel &model) {
  std::string text = "# From " + model.source + ".\n" + listIgnored(model.ignored), arguments;
  for (const std::string &module : model.modules)
    text += "import " + module + "\n";
  for (const auto &[name, argument] : model.arguments)
    arguments += (arguments.empty() ? "" : ", ") + name + " = " + print(argument.value);
  const bool isWrapped = !model.trained.empty();
  const std::string format = model.readsTokens && !isWrapped ? "indexed" : "arrays";
  text += "\nmodel " + model.name + " = " + model.base + " {\n" + arguments + "\n}\n";
  if (isWrapped)
    text += "\nmodel " + model.trained + " = " + model.wrapper + "\n";
  text += "\ntrain finetune = " + (isWrapped ? model.trained : model.name) +
          " {\n"
          "data { format = " +
          format + ", seq = " + std::to_string(model.seq) +
          ", batch = 8 }\neval { data { format = " + format +
          " }, every = 100 }\ncheckpoint { every = 100, best = loss }\n";
  if (!model.compute.empty())
    text += "precision { compute = " + model.compute + " }\n";
  if (!model.stored.empty())
    text += "export { dtype = " + model.stored + " }\n";
  for (const std::string &rule : model.rules)
    text += rule + "\n";
  const std::string rate = model.trainsAdapters ? "2e-4" : isWrapped ? "1e-6" : "1e-5";
  return text + "optimizer = adamw { lr = " + rate +
         ", betas = (0.9, 0.95), weight_decay = 0 }\n"
         "schedule = { warmup = 20, decay = cosine, to = 0.1 }\n"
         "clip = 1.0\n"
         "steps = 1000\n"
         "}\n";
}

std::string makeModelName(const std::string &directory) {
  std::string name;
  for (unsigned char c : directory)
    if (std::isalnum(c) && c < 0x80)
      name += static_cast<char>(c);
    else if (!name.empty() && name.back() != '_')
      name += '_';
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])))
    name = name.empty() ? "Model" : "Model_" + name;
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

} // namespace titan::driver
