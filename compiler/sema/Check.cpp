#include "compiler/sema/Check.h"
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/Reachability.h"
#include "compiler/sema/Suggest.h"

namespace titan::sema {

using namespace syntax;

Checker::Checker(SourceManager &sources, DiagnosticEngine &diags, const CheckRequest &request)
    : sources(sources), diags(diags), request(request),
      library(sources, diags, request.searchDirs) {}

bool Checker::load() {
  unit = library.loadRoot(request.file);
  return unit && parseOverrides();
}

bool Checker::parseOverrides() {
  for (const std::string &argument : request.overrides)
    if (std::optional<Override> parsed = parseOverride(argument, sources, diags))
      overrides.push_back(std::move(*parsed));
  return !diags.hasErrors();
}

/// A model whose arguments are all given. What cannot be resolved counts as complete, so that it is
/// looked at and reported.
bool Checker::isComplete(const Symbol &model, std::set<std::string> given, unsigned depth) const {
  constexpr unsigned deepest = 64;
  if (auto *decl = model.decl->as<ModelDecl>())
    return std::all_of(decl->formals.begin(), decl->formals.end(), [&](const Formal &formal) {
      return formal.defaultValue || given.count(formal.name.text);
    });
  const ModelAliasDecl &alias = *model.decl->as<ModelAliasDecl>();
  for (const Setting &setting : alias.settings)
    given.insert(setting.path.text());
  Symbol base = library.lookup(*model.unit, alias.base);
  bool isModel = base && (base.decl->is<ModelDecl>() || base.decl->is<ModelAliasDecl>());
  return !isModel || depth > deepest || isComplete(base, std::move(given), depth + 1);
}

/// Runs, or else models that need no further argument, in source order.
std::vector<Symbol> Checker::declared(bool trains) const {
  std::vector<Symbol> found;
  for (const DeclPtr &decl : unit->module->decls) {
    Symbol symbol{decl.get(), unit};
    bool isModel = decl->is<ModelDecl>() || decl->is<ModelAliasDecl>();
    if (trains ? decl->is<TrainDecl>() : isModel && isComplete(symbol, {}, 0))
      found.push_back(symbol);
  }
  return found;
}

std::optional<Symbol> Checker::choose() {
  std::vector<Symbol> trains = declared(true);
  std::vector<std::string> names;
  for (const Symbol &train : trains) {
    names.push_back(nameOf(*train.decl).text);
    if (names.back() == request.train)
      return train;
  }
  for (const Symbol &model : declared(false)) // a model alone can be looked at, not trained
    if (nameOf(*model.decl).text == request.train)
      return model;
  if (!request.train.empty()) {
    Diagnostic &diag =
        diags.report(Code::UnknownDeclaration, {},
                     "`" + request.file + "` has no run named `" + request.train + "`");
    diag.help("its runs are " + listNames(names));
    return std::nullopt;
  }
  if (trains.size() == 1)
    return trains[0];
  if (trains.size() > 1) {
    Diagnostic &diag = diags.report(Code::SeveralRuns, nameOf(*trains[1].decl).loc,
                                    "`" + request.file + "` has several runs: " + listNames(names));
    diag.help("choose one with `--train " + names[0] + "`");
    return std::nullopt;
  }
  std::vector<Symbol> models = declared(false);
  if (!models.empty())
    return models.back();
  diags.report(Code::NothingToCompile, {},
               "`" + request.file + "` has no run, and no model whose arguments are all given");
  return std::nullopt;
}

std::optional<CheckedRun> Checker::check() {
  std::optional<Symbol> chosen = choose();
  return chosen ? checkRun(*chosen) : std::nullopt;
}

bool Checker::checkAll() {
  if (!request.train.empty())
    return check().has_value();
  std::vector<Symbol> runs = declared(true);
  bool good = true;
  for (const Symbol &symbol : runs)
    good &= checkRun(symbol).has_value();
  if (!runs.empty())
    overrides.clear(); // the command line speaks of the runs
  for (const Symbol &model : declared(false))
    good &= checkRun(model).has_value();
  return good;
}

bool Checker::collectArguments(const Symbol &model, std::map<std::string, Argument> &arguments,
                               Symbol &base, unsigned depth) {
  if (model.decl->is<ModelDecl>()) {
    base = model;
    return true;
  }
  const ModelAliasDecl &alias = *model.decl->as<ModelAliasDecl>();
  constexpr unsigned deepest = 64;
  if (depth > deepest) {
    diags.report(Code::AliasCycle, alias.base.loc,
                 "model `" + alias.name.text + "` would derive from itself");
    return false;
  }
  Symbol parent = library.lookup(*model.unit, alias.base);
  if (!parent || !(parent.decl->is<ModelDecl>() || parent.decl->is<ModelAliasDecl>())) {
    Diagnostic &diag = diags.report(Code::UnknownDeclaration, alias.base.loc,
                                    "no model is named `" + alias.base.text() + "`");
    std::string near = nearestName(alias.base.text(), library.names(*model.unit));
    if (!near.empty())
      diag.fix(alias.base.loc, near);
    return false;
  }
  if (!collectArguments(parent, arguments, base, depth + 1))
    return false;
  for (const Setting &setting : alias.settings) {
    if (!setting.value || setting.block || !setting.path.isSimple()) {
      diags.report(Code::UnknownModelArgument, setting.loc,
                   "a model's arguments are set as `name = value`");
      continue;
    }
    Value value = Elaborator::evalConstant(*setting.value, library, *model.unit, diags);
    arguments[setting.path.text()] = {value, setting.path.loc};
  }
  return true;
}

bool Checker::checkArguments(const Symbol &base, const std::map<std::string, Argument> &arguments) {
  const ModelDecl &decl = *base.decl->as<ModelDecl>();
  std::vector<std::string> names;
  for (const Formal &formal : decl.formals)
    names.push_back(formal.name.text);
  bool good = true;
  for (const auto &[name, argument] : arguments) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      continue;
    good = false;
    Diagnostic &diag =
        diags.report(Code::UnknownModelArgument, argument.loc,
                     "model `" + decl.name.text + "` has no argument `" + name + "`");
    diag.note(decl.name.loc, "its arguments are " + listNames(names));
    if (std::string near = nearestName(name, names); !near.empty())
      diag.help("did you mean `" + near + "`?");
  }
  return good;
}

bool Checker::specialise(const CheckedRun &checked, int64_t batch, Model &model) {
  Specialisation spec;
  Symbol base;
  size_t errorsBefore = diags.errorReports();
  if (!collectArguments(checked.run.model, spec.arguments, base, 0))
    return false;
  for (const auto &[name, option] : checked.run.modelArguments)
    spec.arguments[name] = {option.value, option.loc};
  if (!checkArguments(base, spec.arguments) || diags.errorReports() != errorsBefore)
    return false;
  auto dim = [&](const char *path) {
    const Option &option = checked.run.options.at(path);
    return Argument{option.value, option.loc};
  };
  spec.dataDims["batch"] = dim("data.batch");
  spec.dataDims["seq"] = dim("data.seq");
  if (batch)
    spec.dataDims["batch"].value = Value::ofInt(batch);
  auto dtype = [&](const char *path) {
    return checked.run[path].isWord("f64") ? DType::F64 : DType::F32;
  };
  spec.params = dtype("precision.params");
  spec.compute = dtype("precision.compute");
  return Elaborator(library, diags, model).run(base, spec);
}

void Checker::checkGroups(const CheckedRun &checked) {
  for (const Group &group : checked.run.groups) {
    bool matched = false;
    for (const Parameter &parameter : checked.train.parameters)
      matched |= matchesPattern(group.pattern, parameter.name);
    if (!matched)
      diags.report(Code::UnknownGroupPattern, group.loc,
                   "no parameter's name matches `" + group.pattern + "`");
  }
}

void Checker::warnUnused(const Model &model) {
  Reachability needed(model, {*model.loss});
  for (uint32_t i = 0; i < model.parameters.size(); ++i)
    if (!needed.parameters.count(i))
      diags.report(Code::UnusedParameter, model.parameters[i].loc,
                   "the loss does not depend on parameter `" + model.parameters[i].name + "`");
}

/// Every input of a run's model must come from its data.
static void checkInputs(const CheckedRun &checked, DiagnosticEngine &diags) {
  for (const Input &input : checked.train.inputs)
    if (input.name != "tokens" && input.name != "labels")
      diags.report(Code::UnfedInput, input.loc, "no data feeds input `" + input.name + "`")
          .note(checked.run.modelLoc, "for this run")
          .help("text gives the inputs `tokens` and `labels`");
}

std::optional<CheckedRun> Checker::checkRun(const Symbol &symbol) {
  bool isTrain = symbol.decl->is<TrainDecl>();
  std::optional<Run> run = isTrain ? resolveRun(symbol, overrides, library, diags)
                                   : defaultRun(symbol, overrides, library, diags);
  if (!run)
    return std::nullopt;
  CheckedRun checked;
  checked.run = std::move(*run);
  checked.modelName = nameOf(*checked.run.model.decl).text;
  std::optional<Mesh> mesh = resolveMesh(checked.run, library, diags);
  if (!specialise(checked, 0, checked.train) || !mesh)
    return std::nullopt;
  checked.mesh = std::move(*mesh);
  size_t errorsBefore = diags.errorReports();
  if (isTrain && !checked.train.loss)
    diags
        .report(Code::ModelWithoutLoss, checked.run.modelLoc,
                "model `" + checked.train.name + "` has no loss to minimise")
        .note(checked.train.loc, "declared here")
        .help("add `loss = mean(..., over batch, seq)`");
  if (isTrain)
    checkInputs(checked, diags);
  splitAxes(checked.mesh, checked.train);
  checkMesh(checked.mesh, checked.train, diags);
  checkShardingOptions(checked.run, checked.mesh, diags);
  checkGroups(checked);
  if (isTrain && checked.train.loss)
    warnUnused(checked.train);
  if (diags.errorReports() != errorsBefore || !specialise(checked, 1, checked.logits))
    return std::nullopt;
  return checked;
}

} // namespace titan::sema
