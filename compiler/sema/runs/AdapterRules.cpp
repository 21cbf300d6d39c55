#include "compiler/sema/runs/AdapterRules.h"
#include "compiler/sema/elaboration/Adaptation.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/program/Callable.h"
#include "compiler/sema/runs/ParameterMatrix.h"

#include <algorithm>
#include <set>

namespace titan::sema {

using namespace syntax;

/// The dimensions that the callable takes, by their names.
static std::vector<const Formal *> getDimFormals(const Callable &callable) {
  std::vector<const Formal *> dims;
  for (const Formal &formal : *getFormals(*callable.callee.symbol.decl))
    if (formal.kind != FormalKind::Value)
      dims.push_back(&formal);
  return dims;
}

static bool takesMatrix(const Callable &callable) {
  const std::vector<const Formal *> dims = getDimFormals(callable);
  return std::any_of(dims.begin(), dims.end(),
                     [](const Formal *formal) { return formal->name.text != "all"; });
}

/// Whether a call leaves an argument open, as `LowRank(_)` does.
static bool isPartial(const CallExpr &call) {
  return std::any_of(call.args.begin(), call.args.end(), [](const Arg &arg) {
    auto *name = arg.value ? arg.value->as<NameExpr>() : nullptr;
    return name && name->path.text() == "_";
  });
}

Value readAdapter(const Expr &expr, const Library &library, const Unit &unit,
                  DiagnosticEngine &diags) {
  if (auto *call = expr.as<CallExpr>(); call && !isPartial(*call)) {
    diags
        .report(Code::BadAdapter, expr.loc,
                "an adapter is a function or a block, and this is the result of a call")
        .help("write `" + call->callee.text() + "(_, ...)`, with `_` for the parameter");
    return {};
  }
  const Value value = evalConstant(expr, library, unit, diags);
  if (value.isError() || value.kind == Value::Kind::None)
    return value;
  if (!value.isCallable() || !value.callable->callee.symbol) {
    diags
        .report(Code::BadAdapter, expr.loc,
                std::string("an adapter is a function or a block of the program, not ") +
                    value.describe())
        .help("write `LowRank(_)`, from `std.adapter`, with `_` for the parameter");
    return {};
  }
  for (const Formal *formal : getDimFormals(*value.callable)) {
    const std::vector<std::string> &roles = getAdapterRoles();
    if (formal->kind == FormalKind::Over &&
        std::find(roles.begin(), roles.end(), formal->name.text) != roles.end())
      continue;
    diags
        .report(Code::BadAdapter, expr.loc,
                "an adapter cannot take the dimension `" + formal->name.text + "`")
        .note(formal->name.loc, "declared here")
        .help("of a parameter, adapters take `over inputs`, `over outputs` and `over all`");
    return {};
  }
  return value;
}

bool hasAdapters(const Run &run) {
  return std::any_of(run.rules.begin(), run.rules.end(),
                     [](const ParameterRule &rule) { return rule.adapter.has_value(); });
}

/// The last rule with an adapter for the parameter, unless the adapter is `none`.
static std::optional<size_t> findRule(const Run &run, const Parameter &parameter) {
  std::optional<size_t> last;
  for (size_t i = 0; i < run.rules.size(); ++i)
    if (run.rules[i].adapter && matchesGlob(run.rules[i].pattern, parameter.name))
      last = run.rules[i].adapter->isCallable() ? std::optional(i) : std::nullopt;
  return last;
}

static std::vector<size_t> getPositions(const DimSet &all, const DimSet &dims) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < all.size(); ++i)
    if (dims.contains(all[i]))
      positions.push_back(i);
  return positions;
}

static void reportNoMatrix(const ParameterRule &rule, const std::vector<MatrixObstacle> &obstacles,
                           DiagnosticEngine &diags) {
  Diagnostic &diag = diags.report(Code::BadAdapter, rule.loc,
                                  "no parameter that matches `" + rule.pattern +
                                      "` is a matrix, which this adapter needs");
  for (const MatrixObstacle &obstacle : obstacles)
    diag.note(obstacle.loc, obstacle.text);
}

Adapters findAdapters(const Run &run, const Model &plain, DiagnosticEngine &diags) {
  Adapters adapters;
  std::map<size_t, std::vector<MatrixObstacle>> idle; // rules that adapt nothing yet
  std::set<size_t> used;
  for (uint32_t i = 0; i < plain.parameters.size(); ++i) {
    const Parameter &parameter = plain.parameters[i];
    const std::optional<size_t> rule = parameter.isBuffer ? std::nullopt : findRule(run, parameter);
    if (!rule)
      continue;
    Adapter adapter{run.rules[*rule].adapter->callable, {}, {}, *rule, run.rules[*rule].loc};
    if (takesMatrix(*adapter.callable)) {
      const MatrixUses uses = findMatrixUses(plain, i);
      if (!uses.roles) {
        idle.try_emplace(*rule, uses.obstacles);
        continue;
      }
      adapter.outputs = getPositions(parameter.type.dims, uses.roles->matrix.outputs);
      adapter.inputs = getPositions(parameter.type.dims, uses.roles->matrix.inputs);
    }
    used.insert(*rule);
    adapters.emplace(parameter.name, std::move(adapter));
  }
  for (const auto &[rule, obstacles] : idle)
    if (!used.count(rule))
      reportNoMatrix(run.rules[rule], obstacles, diags);
  return adapters;
}

} // namespace titan::sema
