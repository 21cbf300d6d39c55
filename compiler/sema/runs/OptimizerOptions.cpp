#include "compiler/sema/runs/OptimizerOptions.h"
#include "compiler/sema/elaboration/Elaborator.h"

#include <cmath>
#include <set>

namespace titan::sema {

using namespace syntax;

namespace {

/// Reads the limits of one `option` statement.
class OptionReader {
public:
  OptionReader(const Unit &unit, const Library &library, DiagnosticEngine &diags)
      : unit(unit), library(library), diags(diags) {}

  std::optional<OptionSpec> read(const OptionStmt &stmt) {
    if (isReserved(stmt.name))
      return std::nullopt;
    OptionSpec spec{stmt.name.text, OptionType::Float, {}, Fixed::Compile, "",
                    unbounded,      unbounded};
    spec.least = -unbounded;
    for (const Setting &limit : stmt.limits)
      readLimit(limit, spec);
    Value initial = evalConstant(*stmt.value, library, unit, diags);
    if (initial.isError() || !chooseType(stmt, initial, spec))
      return std::nullopt;
    spec.initial = checkOption(spec, initial, stmt.value->loc, diags);
    return spec.initial.isError() ? std::nullopt : std::optional(spec);
  }

private:
  static constexpr double unbounded = std::numeric_limits<double>::infinity();

  /// Names that every optimizer or group of parameters has already.
  bool isReserved(const Name &name) {
    static const std::set<std::string> reserved = {"group", "lr", "lr_scale", "name", "optimizer"};
    if (!reserved.count(name.text))
      return false;
    diags
        .report(Code::Redeclared, name.loc,
                "an option cannot be named `" + name.text + "`: every optimizer has this setting")
        .help("choose another name");
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
    else
      diags
          .report(Code::UnknownOption, limit.path.loc,
                  "`" + name + "` says nothing of an option like this")
          .help("the words are `least`, `most` and `below` with a number, and `meaning` with a "
                "string");
  }

  bool chooseType(const OptionStmt &stmt, const Value &initial, OptionSpec &spec) {
    bool isPair = initial.isNumberList() && initial.elements.size() == 2;
    if (initial.isInt())
      spec.type = OptionType::Integer;
    else if (initial.kind == Value::Kind::Bool)
      spec.type = OptionType::Bool;
    else if (isPair)
      spec.type = OptionType::Pair;
    if (initial.isNumber() || isPair || initial.kind == Value::Kind::Bool)
      return true;
    diags
        .report(Code::OptionType, stmt.value->loc,
                "an option is a number, two numbers, `true` or `false`, not " +
                    std::string(initial.describe()))
        .help("a number with a point, such as 0.0, may be set to any number, one without to whole "
              "ones");
    return false;
  }

  const Unit &unit;
  const Library &library;
  DiagnosticEngine &diags;
};

} // namespace

std::vector<OptionSpec> optionsOf(const Symbol &optimizer, const Library &library,
                                  DiagnosticEngine &diags) {
  std::vector<OptionSpec> specs;
  if (!optimizer)
    return specs;
  OptionReader reader(*optimizer.unit, library, diags);
  for (const StmtPtr &stmt : optimizer.decl->as<OptimizerDecl>()->body.stmts)
    if (auto *option = stmt->as<OptionStmt>())
      if (std::optional<OptionSpec> spec = reader.read(*option))
        specs.push_back(std::move(*spec));
  return specs;
}

} // namespace titan::sema
