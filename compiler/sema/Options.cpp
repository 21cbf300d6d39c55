#include "compiler/sema/Options.h"
#include "compiler/sema/Suggest.h"

#include <algorithm>
#include <cmath>

namespace titan::sema {
namespace {

OptionSpec integer(const char *path, Value initial, Fixed fixed, double least, const char *doc) {
  return {path, OptionType::Integer, std::move(initial), fixed, doc, least, 0x1p53, {}};
}

OptionSpec number(const char *path, double initial, Fixed fixed, double least, double most,
                  const char *doc) {
  return {path, OptionType::Float, Value::ofFloat(initial), fixed, doc, least, most, {}};
}

OptionSpec choice(const char *path, Fixed fixed, std::vector<std::string> choices,
                  const char *doc) {
  return {path, OptionType::Choice, Value::ofWord(choices[0]), fixed, doc, 0, 0, choices};
}

OptionSpec elementType(const char *path, std::vector<std::string> choices, const char *doc) {
  return choice(path, Fixed::Compile, std::move(choices), doc);
}

} // namespace

const std::vector<OptionSpec> &optionTable() {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  static const std::vector<OptionSpec> table = {
      choice("data.format", Fixed::Compile, {"text"},
             "how the data are read: text takes bytes as tokens; written `data = text(\"FILE\")`"),
      {"data.path",
       OptionType::String,
       Value::ofString(""),
       Fixed::Launch,
       "the file to train on, relative to the .titan file",
       0,
       0,
       {}},
      choice("eval.data.format", Fixed::Compile, {"text"},
             "how the evaluation's data are read; written `eval { data = text(\"FILE\") }`"),
      {"eval.data.path",
       OptionType::String,
       Value::ofString(""),
       Fixed::Launch,
       "the file to evaluate on; a program without one is compiled without evaluation",
       0,
       0,
       {}},
      integer("eval.every", Value::ofInt(0), Fixed::Launch, 0,
              "steps between evaluations; 0: only the command `eval` evaluates"),
      integer("eval.batches", Value::ofInt(0), Fixed::Launch, 0,
              "batches of an evaluation; 0: all that are full"),
      integer("checkpoint.every", Value::ofInt(0), Fixed::Launch, 0,
              "steps between checkpoints; 0: only a run that is stopped by a signal saves one"),
      integer("checkpoint.keep", Value::ofInt(3), Fixed::Launch, 0,
              "how many of the latest checkpoints are kept; 0: all"),
      integer("data.batch", {}, Fixed::Compile, 1, "samples in a step, on all processes together"),
      integer("data.seq", {}, Fixed::Compile, 1, "tokens in a sample"),
      elementType("precision.params", {"f32", "f64", "bf16"}, "element type of parameters"),
      elementType("precision.compute", {"f32", "f64", "bf16"},
                  "element type of what is computed outside of islands"),
      elementType("precision.reduce", {"auto", "f32", "f64", "bf16"},
                  "element type of parameters' gradients and of their sums over processes; auto: "
                  "the wider of f32 and `compute`"),
      elementType("precision.activations_reduce", {"auto", "f32", "f64", "bf16"},
                  "element type of sums over processes of what has the type `compute`; auto: "
                  "`compute`"),
      elementType("precision.optimizer", {"auto", "f32", "f64", "bf16"},
                  "element type of the optimizer's state; auto: the wider of f32 and `params`"),
      choice("sharding.reshard_after_forward", Fixed::Compile, {"default", "always", "never"},
             "whether parameters are gathered again in the backward: those of layers are, unless it is "
             "never; others only with always"),
      choice("sharding.overlap", Fixed::Compile, {"always", "never"},
             "communicate while computing: gather parameters a layer ahead, wait for what is reduced "
             "only where it is used"),
      choice("optimizer.name", Fixed::Compile, {"adamw"},
             "the optimizer; written `optimizer = adamw { ... }`"),
      number("optimizer.lr", 1e-3, Fixed::Launch, 0, unbounded,
             "learning rate at the height of the schedule"),
      {"optimizer.betas",
       OptionType::Pair,
       Value::ofList({Value::ofFloat(0.9), Value::ofFloat(0.999)}),
       Fixed::Compile,
       "decay rates of the two moments",
       0,
       0x1.fffffffffffffp-1,
       {}},
      number("optimizer.eps", 1e-8, Fixed::Compile, 0, unbounded, "added to the denominator"),
      number("optimizer.weight_decay", 0, Fixed::Compile, 0, unbounded,
             "decoupled weight decay; `group \"PATTERN\" { weight_decay = ... }` overrides it"),
      integer("schedule.warmup", Value::ofInt(0), Fixed::Launch, 0,
              "steps in which the learning rate rises linearly"),
      choice("schedule.decay", Fixed::Launch, {"constant", "linear", "cosine"},
             "how it falls afterwards, to the last step"),
      number("schedule.to", 0, Fixed::Launch, 0, 1, "what it falls to, as a fraction"),
      number("clip", 0, Fixed::Compile, 0, unbounded,
             "largest norm of the gradient over all parameters; 0: no clipping"),
      integer("accumulate", Value::ofInt(1), Fixed::Compile, 1,
              "parts of the batch that a step computes one after the other, adding up gradients"),
      choice("recompute", Fixed::Compile, {"none", "full"},
             "what the backward of a repeat computes again instead of keeping it"),
      integer("recompute.every", Value::ofInt(0), Fixed::Compile, 0,
              "compute every n-th layer again: the layers n - 1, 2n - 1, ...; 0: go by the others"),
      {"recompute.layers",
       OptionType::Integers,
       Value::ofList({}),
       Fixed::Compile,
       "the layers to compute again, counted from 0; none: go by the others",
       0,
       0x1p53,
       {}},
      {"recompute.save",
       OptionType::Words,
       Value::ofList({}),
       Fixed::Compile,
       "keep the results of these and compute the rest again",
       0,
       0,
       {"matmul", "attention", "rotary", "reduce", "gather"}},
      {"recompute.blocks",
       OptionType::Words,
       Value::ofList({}),
       Fixed::Compile,
       "compute only what calls of these blocks do again; none: what the others say",
       0,
       0,
       {}},
      integer("steps", Value::ofInt(100), Fixed::Launch, 1, "steps to train"),
      integer("seed", Value::ofInt(0), Fixed::Launch, 0,
              "of initial values and of the order of samples"),
  };
  return table;
}

const OptionSpec *findOption(const std::string &path) {
  for (const OptionSpec &spec : optionTable())
    if (spec.path == path)
      return &spec;
  return nullptr;
}

namespace {

Value refuse(Code code, const OptionSpec &spec, const std::string &takes, const Value &value,
             Location at, DiagnosticEngine &diags) {
  diags.report(code, at, "`" + spec.path + "` takes " + takes + ", not " + value.print());
  return {};
}

std::string rangeText(const OptionSpec &spec) {
  std::string text = "a number from " + Value::ofFloat(spec.least).print() + " on";
  if (spec.most < 1e15)
    text = "a number from " + Value::ofFloat(spec.least).print() + " to " +
           Value::ofFloat(spec.most).print();
  return text;
}

bool inRange(const OptionSpec &spec, double number) {
  return std::isfinite(number) && number >= spec.least && number <= spec.most;
}

bool isElementType(const OptionSpec &spec) {
  return spec.path.rfind("precision.", 0) == 0;
}

Value checkChoice(const OptionSpec &spec, const Value &value, Location at,
                  DiagnosticEngine &diags) {
  std::string given = value.kind == Value::Kind::String ? value.text : value.print();
  if (std::find(spec.choices.begin(), spec.choices.end(), given) != spec.choices.end())
    return Value::ofWord(given);
  if (given == "f16" && isElementType(spec)) {
    reportHalf(at, diags);
    return {};
  }
  Diagnostic &diag =
      diags.report(Code::OptionValue, at, "`" + spec.path + "` cannot be " + value.print());
  diag.help("legal: " + listNames(spec.choices));
  return {};
}

Value checkPair(const OptionSpec &spec, const Value &value, Location at, DiagnosticEngine &diags) {
  if (value.kind != Value::Kind::List || value.elements.size() != 2 ||
      !value.elements[0].isNumber() || !value.elements[1].isNumber())
    return refuse(Code::OptionType, spec, "two numbers in parentheses", value, at, diags);
  std::vector<Value> pair;
  for (const Value &element : value.elements) {
    if (!inRange(spec, element.number()))
      return refuse(Code::OptionValue, spec, "numbers from 0 to below 1", value, at, diags);
    pair.push_back(Value::ofFloat(element.number()));
  }
  return Value::ofList(std::move(pair));
}

/// The elements of a list; one value is a list of one.
std::vector<Value> elementsOf(const Value &value) {
  return value.kind == Value::Kind::List ? value.elements : std::vector<Value>{value};
}

Value checkIntegers(const OptionSpec &spec, const Value &value, Location at,
                    DiagnosticEngine &diags) {
  std::vector<Value> numbers = elementsOf(value);
  for (const Value &number : numbers) {
    if (!number.isInt())
      return refuse(Code::OptionType, spec, "integers: `(4, 8, 12)`", value, at, diags);
    if (!inRange(spec, number.number()))
      return refuse(Code::OptionValue, spec, rangeText(spec), number, at, diags);
  }
  return Value::ofList(std::move(numbers));
}

Value checkWords(const OptionSpec &spec, const Value &value, Location at, DiagnosticEngine &diags) {
  std::vector<Value> words = elementsOf(value);
  for (Value &word : words) {
    bool isName = word.kind == Value::Kind::Word || word.kind == Value::Kind::String;
    if (spec.choices.empty())
      word = isName ? Value::ofWord(word.text)
                    : refuse(Code::OptionType, spec, "names: `[Attention, FeedForward]`", word, at,
                             diags);
    else
      word = checkChoice(spec, word, at, diags);
    if (word.isError())
      return {};
  }
  return Value::ofList(std::move(words));
}

} // namespace

void reportHalf(Location at, DiagnosticEngine &diags) {
  diags
      .report(Code::HalfPrecision, at,
              "f16 is not supported: small gradients would become 0 without scaling of the loss")
      .help("use bf16, which has the exponents of f32");
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
  case OptionType::String:
    if (value.kind != Value::Kind::String)
      return refuse(Code::OptionType, spec, "a string", value, at, diags);
    return value;
  case OptionType::Integer:
    if (!value.isInt())
      return refuse(Code::OptionType, spec, "an integer", value, at, diags);
    if (!inRange(spec, value.number()))
      return refuse(Code::OptionValue, spec, rangeText(spec), value, at, diags);
    return value;
  case OptionType::Float:
    break;
  }
  if (!value.isNumber())
    return refuse(Code::OptionType, spec, "a number", value, at, diags);
  if (!inRange(spec, value.number()))
    return refuse(Code::OptionValue, spec, rangeText(spec), value, at, diags);
  return Value::ofFloat(value.number());
}

} // namespace titan::sema
