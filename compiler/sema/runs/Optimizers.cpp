#include "compiler/sema/runs/Optimizers.h"
#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
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

const OptimizerDecl &declOf(const Symbol &symbol) {
  return *symbol.decl->as<OptimizerDecl>();
}

const std::string section = "optimizer.";

} // namespace

std::vector<OptionSpec> optionsOf(const Symbol &optimizer, const Library &library,
                                  DiagnosticEngine &diags) {
  std::vector<OptionSpec> specs;
  if (!optimizer)
    return specs;
  OptionReader reader(*optimizer.unit, library, diags);
  for (const StmtPtr &stmt : declOf(optimizer).body.stmts)
    if (auto *option = stmt->as<OptionStmt>())
      if (std::optional<OptionSpec> spec = reader.read(*option))
        specs.push_back(std::move(*spec));
  return specs;
}

std::optional<Path> optimizerName(const Expr &expr) {
  if (auto *name = expr.as<NameExpr>())
    return name->path;
  if (auto *text = expr.as<StringExpr>())
    return Path{{{text->value, text->loc}}, text->loc};
  return std::nullopt;
}

void reportNoOptimizerName(const Expr &expr, DiagnosticEngine &diags) {
  auto *call = expr.as<CallExpr>();
  Diagnostic &diag = diags.report(Code::OptionType, expr.loc,
                                  call ? "`optimizer.name` takes a word, not a call"
                                       : "`optimizer.name` takes the name of an optimizer");
  if (call)
    diag.help("write its settings in braces: `" + call->callee.text() + " { ... }`");
}

Symbol lookupOptimizer(const Path &path, const Unit &unit, const Run &run, const Library &library) {
  for (const Unit *candidate : {&unit, run.model.unit})
    if (candidate)
      if (Symbol symbol = library.lookup(*candidate, path, Namespace::Optimizers))
        return symbol;
  return {};
}

Symbol findOptimizer(const Path &path, const Unit &unit, const Run &run, const Library &library,
                     DiagnosticEngine &diags) {
  if (Symbol symbol = lookupOptimizer(path, unit, run, library))
    return symbol;
  std::vector<std::string> names = library.names(unit, Namespace::Optimizers);
  std::erase_if(names, [](const std::string &name) { return name.find('.') != std::string::npos; });
  Diagnostic &diag =
      diags.report(Code::OptionValue, path.loc, "no optimizer is named `" + path.text() + "`");
  suggestName(diag, path.loc, path.text(), names, "known are ");
  return {};
}

void useOptimizer(const Symbol &optimizer, Run &run, const Library &library,
                  DiagnosticEngine &diags) {
  if (run.optimizer && run.optimizer.decl == optimizer.decl)
    return;
  for (const OptionSpec &spec : run.optimizerOptions)
    run.options.erase(spec.path);
  run.optimizer = optimizer;
  run.optimizerOptions = optionsOf(optimizer, library, diags);
  for (OptionSpec &spec : run.optimizerOptions)
    spec.path = section + spec.path;
  for (Group &group : run.groups)
    std::erase_if(group.values,
                  [&](const auto &entry) { return !findGroupOption(run, group, entry.first); });
  std::erase_if(run.groups,
                [](const Group &group) { return group.values.empty() && !group.optimizer; });
}

std::optional<OptionSpec> findGroupOption(const Run &run, const Group &group,
                                          const std::string &name) {
  std::vector<const std::vector<OptionSpec> *> tables = {&groupOptions(), &group.optimizerOptions};
  if (!group.optimizer)
    for (const Group &other : run.groups)
      tables.push_back(&other.optimizerOptions);
  for (const std::vector<OptionSpec> *table : tables)
    if (const OptionSpec *spec = findOption(*table, name))
      return *spec;
  const OptionSpec *shared =
      group.optimizer ? nullptr : findOption(run.optimizerOptions, section + name);
  if (!shared)
    return std::nullopt;
  OptionSpec spec = *shared;
  spec.path = name;
  return spec;
}

std::vector<std::string> groupOptionNames(const Run &run, const Group &group) {
  std::vector<std::string> known = namesOf(groupOptions());
  known.emplace_back("optimizer");
  for (const OptionSpec &spec : group.optimizer ? group.optimizerOptions : run.optimizerOptions)
    known.push_back(group.optimizer ? spec.path : spec.path.substr(section.size()));
  return known;
}

Optimizer optimizerOf(const Run &run, const Parameter &parameter) {
  Optimizer chosen{run.optimizer, {}};
  for (const OptionSpec &spec : run.optimizerOptions)
    chosen.options[spec.path.substr(section.size())] = run[spec.path];
  for (const Group &group : run.groups) {
    if (!matchesPattern(group.pattern, parameter.name))
      continue;
    if (group.optimizer) {
      chosen = {group.optimizer, {}};
      for (const OptionSpec &spec : group.optimizerOptions)
        chosen.options[spec.path] = spec.initial;
    }
    for (const auto &[name, option] : group.values)
      if (auto known = chosen.options.find(name); known != chosen.options.end())
        known->second = option.value;
  }
  return chosen;
}

void checkGroupOptions(const Run &run, const Model &model, DiagnosticEngine &diags) {
  for (const Group &group : run.groups) {
    std::set<std::string> known;
    for (const OptionSpec &spec : groupOptions())
      known.insert(spec.path);
    Symbol last;
    for (const Parameter &parameter : model.parameters)
      if (matchesPattern(group.pattern, parameter.name)) {
        Optimizer chosen = optimizerOf(run, parameter);
        last = chosen.symbol;
        for (const auto &[name, value] : chosen.options)
          known.insert(name);
      }
    for (const auto &[name, option] : group.values)
      if (last && !known.count(name))
        diags
            .report(Code::OptionWithoutEffect, option.nameLoc,
                    "`" + name + "` has no effect on the parameters of this group")
            .note(declOf(last).name.loc, "they are updated by `" + declOf(last).name.text + "`");
  }
}

namespace {

/// Equal for parameters that one function updates.
std::string keyOf(const Optimizer &optimizer, const Parameter &parameter,
                  const std::optional<MatrixDims> &matrix) {
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(optimizer.symbol.decl));
  for (const auto &[name, value] : optimizer.options)
    key += " " + name + "=" + value.print();
  for (DimId dim : parameter.type.dims)
    key += " " + std::to_string(dim);
  if (matrix)
    for (DimId dim : matrix->inputs)
      key += " in " + std::to_string(dim);
  return key;
}

/// The element type that updates are computed in: the widest that is stored, f32 at least.
DType updateType(const Run &run) {
  DType widest = DType::F32;
  for (const char *path : {"precision.params", "precision.reduce", "precision.optimizer"})
    widest = wider(widest, *floatCalled(run[path].print()));
  return widest;
}

} // namespace

namespace {

/// Finds out how the operations of a model use one parameter.
class MatrixUse {
public:
  MatrixUse(const Model &model, uint32_t parameter) : model(model), parameter(parameter) {
    visit(model.body);
  }
  std::optional<MatrixDims> dims() const { return isMatrix ? found : std::nullopt; }

private:
  void visit(const Region &region) {
    for (const Op &op : region.ops) {
      if (op.kind == OpKind::Parameter && op.index == parameter)
        same.insert(op.results[0]);
      for (ValueId operand : op.operands)
        if (same.count(operand))
          use(op, operand);
      for (const Region &body : op.body)
        visit(body);
    }
  }

  /// All uses must be contractions that sum the same dimensions.
  void use(const Op &op, ValueId operand) {
    if (op.kind == OpKind::Cast || op.kind == OpKind::StopGradient) {
      same.insert(op.results[0]);
      return;
    }
    isMatrix &= op.kind == OpKind::Contract;
    if (!isMatrix)
      return;
    const DimSet &own = dimsOf(operand), &result = dimsOf(op.results[0]);
    MatrixDims dims{own.intersect(result), own.without(result)};
    isMatrix = !dims.outputs.empty() && !dims.inputs.empty() && (!found || *found == dims);
    found = dims;
  }

  const DimSet &dimsOf(ValueId value) const { return model.values[value].type.dims; }

  const Model &model;
  uint32_t parameter;
  std::set<ValueId> same; ///< the parameter, perhaps in another element type
  std::optional<MatrixDims> found;
  bool isMatrix = true;
};

} // namespace

std::optional<MatrixDims> matrixDims(const Model &model, uint32_t parameter) {
  return MatrixUse(model, parameter).dims();
}

Updates elaborateOptimizers(const Run &run, const Model &model, const Library &library,
                            DiagnosticEngine &diags) {
  Updates updates;
  updates.functionOf.resize(model.parameters.size());
  std::map<std::string, size_t> known;
  std::set<const Decl *> wrong; // a mistake in an optimizer is said once
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    const Parameter &parameter = model.parameters[i];
    if (parameter.frozen || parameter.isBuffer)
      continue;
    Optimizer optimizer = optimizerOf(run, parameter);
    if (!optimizer.symbol) {
      diags.report(Code::UnknownDeclaration, run.loc,
                   "the standard library, which declares the optimizer of run `" + run.name +
                       "`, was not found");
      return updates;
    }
    if (wrong.count(optimizer.symbol.decl))
      continue;
    std::optional<MatrixDims> matrix = matrixDims(model, static_cast<uint32_t>(i));
    auto [entry, isNew] =
        known.try_emplace(keyOf(optimizer, parameter, matrix), updates.functions.size());
    updates.functionOf[i] = entry->second;
    if (!isNew)
      continue;
    Updates::Function &function = updates.functions.emplace_back();
    function.model.dims = model.dims;
    const std::vector<Formal> &formals = declOf(optimizer.symbol).formals;
    function.argumentCount =
        static_cast<size_t>(std::count_if(formals.begin(), formals.end(), [](const Formal &formal) {
          return formal.kind == FormalKind::Value;
        }));
    OptimizerRequest request{optimizer.options,
                             {updateType(run), parameter.type.dims},
                             matrix,
                             parameter.loc,
                             parameter.name};
    if (!elaborateOptimizer(optimizer.symbol, request, library, diags, function.model))
      wrong.insert(optimizer.symbol.decl);
  }
  return updates;
}

} // namespace titan::sema
