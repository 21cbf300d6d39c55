#include "compiler/sema/runs/DeclaredOptions.h"
#include "compiler/sema/elaboration/Elaborator.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace titan::sema {

using namespace syntax;

namespace {

/// Reads the `option` statements of one declaration.
class OptionReader {
public:
  OptionReader(const Symbol &declared, const Library &library, DiagnosticEngine &diags)
      : unit(*declared.unit), library(library), diags(diags),
        isSchedule(declared.decl->is<ScheduleDecl>()) {}

  /// `earlier`: the options declared above.
  std::optional<OptionSpec> read(const OptionStmt &stmt, const std::vector<OptionSpec> &earlier) {
    known = &earlier;
    if (isReserved(stmt.name))
      return std::nullopt;
    OptionSpec spec{stmt.name.text, OptionType::Float, {}, Fixed::Compile, "",
                    unbounded,      unbounded};
    spec.fixed = isSchedule ? Fixed::Launch : Fixed::Compile;
    spec.least = -unbounded;
    for (const Setting &limit : stmt.limits)
      readLimit(limit, spec);
    Value initial = evalConstant(*stmt.value, library, unit, diags);
    if (initial.isError() || !chooseType(stmt, initial, spec))
      return std::nullopt;
    if (spec.type == OptionType::Integer && isSchedule) { // exact in f64, as programs compute
      spec.least = std::max(spec.least, -0x1p53);
      spec.most = std::min(spec.most, 0x1p53);
    }
    spec.initial = checkOption(spec, initial, stmt.value->loc, diags);
    return spec.initial.isError() ? std::nullopt : std::optional(spec);
  }

private:
  static constexpr double unbounded = std::numeric_limits<double>::infinity();

  /// Names that every schedule, or every optimizer or group of parameters, has already.
  bool isReserved(const Name &name) {
    static const std::set<std::string> ofOptimizers = {
        "every", "group", "loss", "lr", "lr_scale", "name", "offset", "optimizer", "schedule"};
    if (isSchedule ? name.text != "name" : !ofOptimizers.count(name.text))
      return false;
    diags
        .report(Code::Redeclared, name.loc,
                "an option cannot be named `" + name.text + "`: every " +
                    (isSchedule ? "schedule" : "optimizer") + " has this setting")
        .help("choose another name");
    return true;
  }

  /// The words of `words = ["linear", "cosine"]`.
  static bool readWords(const Value &value, OptionSpec &spec) {
    if (value.kind != Value::Kind::List || value.elements.size() < 2)
      return false;
    for (const Value &word : value.elements) {
      if (word.kind != Value::Kind::String)
        return false;
      spec.choices.push_back(word.text);
    }
    return true;
  }

  /// `needs = "decay"`: no effect while the option `decay`, a word or a number, has its default.
  bool readNeeds(const Value &value, OptionSpec &spec) {
    if (value.kind != Value::Kind::String)
      return false;
    const OptionSpec *needed = findOption(*known, value.text);
    if (needed && needed->initial.isNumber() && !isSchedule) {
      spec.idleValue = needed->initial.print();
      spec.needs = needed->path + "=" + getSampleValues(*needed).back();
      return true;
    }
    if (!needed || needed->type != OptionType::Choice)
      return false;
    spec.idleValue = needed->initial.text;
    auto enabling = std::find_if(needed->choices.begin(), needed->choices.end(),
                                 [&](const std::string &word) { return word != spec.idleValue; });
    spec.needs = needed->path + "=" + *enabling;
    return true;
  }

  void readLimit(const Setting &limit, OptionSpec &spec) {
    const std::string name = limit.path.text();
    Value value = limit.value ? evalConstant(*limit.value, library, unit, diags) : Value::none();
    if (value.isError())
      return;
    if (name == "meaning" && value.kind == Value::Kind::String)
      spec.doc = value.text;
    else if (name == "least" && value.isNumber())
      spec.least = value.number();
    else if (name == "most" && value.isNumber())
      spec.most = value.number();
    else if (name == "below" && value.isNumber())
      spec.most = std::nextafter(value.number(), -unbounded);
    else if ((name != "words" || !readWords(value, spec)) &&
             (name != "needs" || !readNeeds(value, spec)))
      diags
          .report(Code::UnknownOption, limit.path.loc,
                  "`" + name + "` does not apply to an option of this type")
          .help("the words are `least`, `most` and `below` with a number, `meaning` with a string, "
                "`words` with a list of strings, and `needs` with the name of an option above that "
                "has `words`, in an optimizer also of a number");
  }

  bool chooseType(const OptionStmt &stmt, const Value &initial, OptionSpec &spec) {
    bool isPair = initial.isNumberList() && initial.elements.size() == 2;
    if (initial.isInt())
      spec.type = OptionType::Integer;
    else if (initial.kind == Value::Kind::Bool)
      spec.type = OptionType::Bool;
    else if (isPair)
      spec.type = OptionType::Pair;
    const bool isWord = initial.kind == Value::Kind::String && !spec.choices.empty();
    if (isWord)
      spec.type = OptionType::Choice;
    if (initial.isNumber() || isWord || initial.kind == Value::Kind::Bool ||
        (isPair && !isSchedule))
      return true;
    diags
        .report(Code::OptionType, stmt.value->loc,
                std::string("an option is a number, ") + (isSchedule ? "" : "two numbers, ") +
                    "`true` or `false`, or one of its `words`, not " + initial.describe())
        .help("an option with a floating-point default such as 0.0 takes any number, one with an "
              "integer default takes integers");
    return false;
  }

  const Unit &unit;
  const Library &library;
  DiagnosticEngine &diags;
  const bool isSchedule;
  const std::vector<OptionSpec> *known = nullptr;
};

const Body &getBody(const Decl &decl) {
  auto *schedule = decl.as<ScheduleDecl>();
  return schedule ? schedule->body : decl.as<OptimizerDecl>()->body;
}

} // namespace

std::vector<OptionSpec> readOptionSpecs(const Symbol &declared, const Library &library,
                                        DiagnosticEngine &diags) {
  std::vector<OptionSpec> specs;
  if (!declared)
    return specs;
  OptionReader reader(declared, library, diags);
  for (const StmtPtr &stmt : getBody(*declared.decl).stmts)
    if (auto *option = stmt->as<OptionStmt>())
      if (std::optional<OptionSpec> spec = reader.read(*option, specs))
        specs.push_back(std::move(*spec));
  return specs;
}

} // namespace titan::sema
