#include "compiler/sema/Run.h"
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/ParameterRules.h"
#include "compiler/sema/Suggest.h"

#include <algorithm>
#include <filesystem>

namespace titan::sema {

using namespace syntax;

namespace {

/// Collects the settings of a chain of runs into one.
class Resolver {
public:
  Resolver(const Library &library, DiagnosticEngine &diags, Run &run)
      : library(library), diags(diags), run(run) {}

  bool addRun(const Symbol &train);
  void addOverrides(const std::vector<Override> &overrides);
  void fillDefaults(bool demandAll);

private:
  void propose(Diagnostic &diag, const Path &path, const Unit &unit, Space space);
  Symbol findBase(const Symbol &symbol, const TrainDecl &decl);
  void addSettings(const std::string &prefix, const std::vector<Setting> &settings);
  void addSetting(const std::string &prefix, const Setting &setting);
  void assign(const std::string &path, Location pathLoc, const Expr &value);
  void setData(const std::string &path, const CallExpr &call);
  void set(const std::string &path, Location pathLoc, const Expr &value);
  void unknown(const std::string &path, Location at);
  Value evaluateWords(const Expr &value);
  void forgetOtherPolicy(const std::string &path);
  void checkTogether();
  void checkAccumulation();
  void checkEvaluation();
  void resolvePrecision();
  void resolveSum(const char *path, DType compute, DType automatic);
  std::string besideFile(const std::string &path) const;
  Value evaluate(const Expr &value) {
    return Elaborator::evalConstant(value, library, *unit, diags);
  }

  const Library &library;
  DiagnosticEngine &diags;
  Run &run;
  const Unit *unit = nullptr;              ///< whose names the settings at hand use
  std::map<std::string, Location> setHere; ///< by the declaration at hand
  std::vector<const Decl *> chain;
  bool fromCommandLine = false;
  bool unknownSeen = false;
};

void Resolver::propose(Diagnostic &diag, const Path &path, const Unit &unit, Space space) {
  if (diags.isFull())
    return;
  std::string near = nearestName(path.text(), library.names(unit, space));
  if (near.empty())
    return;
  diag.fix(path.loc, near);
  if (Symbol symbol = library.lookup(unit, Path{{{near, path.loc}}, path.loc}, space))
    diag.note(nameOf(*symbol.decl).loc, "`" + near + "` is declared here");
}

/// The model that a run trains, or the run that it derives from.
Symbol Resolver::findBase(const Symbol &symbol, const TrainDecl &decl) {
  Space wanted = decl.derived ? Space::Runs : Space::Code;
  Space other = decl.derived ? Space::Code : Space::Runs;
  const char *kind = decl.derived ? "run" : "model";
  Symbol base = library.lookup(*symbol.unit, decl.base, wanted);
  if (base && (decl.derived || base.decl->is<ModelDecl>() || base.decl->is<ModelAliasDecl>()))
    return base;
  if (Symbol wrong = base ? base : library.lookup(*symbol.unit, decl.base, other)) {
    Diagnostic &diag = diags.report(Code::WrongKindOfDeclaration, decl.base.loc,
                                    "`" + decl.base.text() + "` is a " + kindOf(*wrong.decl) +
                                        ", but a " + kind + " is needed here");
    diag.note(nameOf(*wrong.decl).loc, "declared here");
    if (wrong.decl->is<TrainDecl>())
      diag.help("to derive from a run write `with` before the brace");
    return {};
  }
  Diagnostic &diag =
      diags.report(Code::UnknownDeclaration, decl.base.loc,
                   "no " + std::string(kind) + " is named `" + decl.base.text() + "`");
  propose(diag, decl.base, *symbol.unit, wanted);
  return {};
}

bool Resolver::addRun(const Symbol &symbol) {
  const TrainDecl &decl = *symbol.decl->as<TrainDecl>();
  if (std::find(chain.begin(), chain.end(), &decl) != chain.end()) {
    diags.report(Code::AliasCycle, decl.base.loc,
                 "run `" + decl.name.text + "` would derive from itself");
    return false;
  }
  constexpr size_t deepest = 64;
  if (chain.size() >= deepest) {
    diags.report(Code::AliasCycle, decl.base.loc,
                 "run `" + decl.name.text + "` is the end of a chain of over " +
                     std::to_string(deepest) + " runs");
    return false;
  }
  chain.push_back(&decl);
  Symbol base = findBase(symbol, decl);
  if (!base)
    return false;
  bool isRun = base.decl->is<TrainDecl>();
  if (isRun && !addRun(base))
    return false;
  if (!isRun) {
    run.model = base;
    run.modelLoc = decl.base.loc;
  }
  if (decl.parallel) {
    run.parallel = library.lookup(*symbol.unit, *decl.parallel, Space::Maps);
    if (!run.parallel) {
      Diagnostic &diag = diags.report(Code::UnknownDeclaration, decl.parallel->loc,
                                      "no parallel map is named `" + decl.parallel->text() + "`");
      propose(diag, *decl.parallel, *symbol.unit, Space::Maps);
      return false;
    }
  }
  unit = symbol.unit;
  setHere.clear();
  addSettings("", decl.settings);
  run.name = decl.name.text;
  run.loc = decl.name.loc;
  return true;
}

void Resolver::addSettings(const std::string &prefix, const std::vector<Setting> &settings) {
  for (const Setting &setting : settings)
    addSetting(prefix, setting);
}

void Resolver::addSetting(const std::string &prefix, const Setting &setting) {
  std::string path = prefix + setting.path.text();
  if (setting.label) {
    if (path == "optimizer.group")
      return readGroup(setting, library, *unit, run, diags);
    if (path == "parameters")
      return readRule(setting, library, *unit, run, diags);
    return unknown(path, setting.path.loc);
  }
  if (setting.value)
    assign(path, setting.path.loc, *setting.value);
  if (!setting.block)
    return;
  auto isSection = [&](const std::string &all) { return all.rfind(path + ".", 0) == 0; };
  bool known = path == "model" || path == "parallel" ||
               std::any_of(optionTable().begin(), optionTable().end(),
                           [&](const OptionSpec &spec) { return isSection(spec.path); });
  if (known)
    addSettings(path + ".", *setting.block);
  else
    unknown(path, setting.path.loc);
}

/// Sections that take a value themselves: `optimizer = adamw`, and `data = text("FILE")` anywhere.
void Resolver::assign(const std::string &path, Location pathLoc, const Expr &value) {
  auto *call = value.as<CallExpr>();
  bool isData = findOption(path + ".format");
  if (isData && call)
    setData(path, *call);
  else if (isData)
    diags.report(Code::OptionType, value.loc,
                 "`" + path + "` takes a source such as `text(\"FILE\")`");
  else
    set(path == "optimizer" ? "optimizer.name" : path, pathLoc, value);
}

void Resolver::setData(const std::string &path, const CallExpr &call) {
  const OptionSpec &format = *findOption(path + ".format");
  std::string name = call.callee.text();
  Value checked = checkOption(format, Value::ofWord(name), call.callee.loc, diags);
  run.options[format.path] = {checked, call.callee.loc};
  if (call.args.size() != 1 || call.args[0].kind != ArgKind::Positional || !call.args[0].value) {
    diags.report(Code::OptionType, call.loc, "`" + name + "` takes the name of a file");
    return;
  }
  set(path + ".path", call.loc, *call.args[0].value);
}

void Resolver::unknown(const std::string &path, Location at) {
  unknownSeen = true; // then what seems missing may be what was misspelt
  std::vector<std::string> paths;
  for (const OptionSpec &spec : optionTable())
    paths.push_back(spec.path);
  Diagnostic &diag = diags.report(Code::UnknownOption, at, "there is no option `" + path + "`");
  std::string near = nearestName(path, paths);
  if (near.empty()) { // the right name in the wrong section
    std::string last = path.substr(path.rfind('.') + 1);
    for (const std::string &known : paths)
      if (known.size() > last.size() &&
          known.compare(known.size() - last.size() - 1, std::string::npos, "." + last) == 0)
        near = known;
  }
  if (!near.empty())
    diag.help("the nearest option is `" + near + "`");
}

void Resolver::set(const std::string &path, Location pathLoc, const Expr &expr) {
  auto [earlier, fresh] = setHere.try_emplace(path, pathLoc);
  if (!fresh) {
    diags.report(Code::OptionTwice, pathLoc, "`" + path + "` is set twice")
        .note(earlier->second, "it was set here");
    return;
  }
  auto under = [&](const char *section) { return path.rfind(section, 0) == 0; };
  if (under("model.")) {
    run.modelArguments[path.substr(6)] = {evaluate(expr), pathLoc};
    return;
  }
  if (under("parallel.")) {
    run.degrees[path.substr(9)] = {evaluate(expr), expr.loc};
    return;
  }
  const OptionSpec *spec = findOption(path);
  if (!spec)
    return unknown(path, pathLoc);
  bool takesWords = spec->type == OptionType::Choice || spec->type == OptionType::Words;
  Value value = takesWords ? evaluateWords(expr) : evaluate(expr);
  forgetOtherPolicy(path);
  Value checked = checkOption(*spec, value, expr.loc, diags);
  bool isFile = path == "data.path" || path == "eval.data.path";
  if (isFile && !checked.isError() && !fromCommandLine)
    checked.text = besideFile(checked.text);
  run.options[path] = {checked, expr.loc};
}

/// Names stand for themselves, alone and in a list.
Value Resolver::evaluateWords(const Expr &expr) {
  if (auto *name = expr.as<NameExpr>())
    return Value::ofWord(name->path.text());
  const std::vector<ExprPtr> *elements = nullptr;
  if (auto *tuple = expr.as<TupleExpr>())
    elements = &tuple->elements;
  if (auto *list = expr.as<ListExpr>())
    elements = &list->elements;
  if (!elements)
    return evaluate(expr);
  std::vector<Value> words;
  for (const ExprPtr &element : *elements)
    words.push_back(evaluateWords(*element));
  return Value::ofList(std::move(words));
}

/// `recompute = none` takes back what the run it derives from says in other words, and the other
/// way round.
void Resolver::forgetOtherPolicy(const std::string &path) {
  auto isRecompute = [](const std::string &all) { return all.rfind("recompute", 0) == 0; };
  auto choosesLayers = [](const std::string &all) {
    return all == "recompute.every" || all == "recompute.layers";
  };
  if (!isRecompute(path))
    return;
  for (const OptionSpec &spec : optionTable())
    if (isRecompute(spec.path) && !setHere.count(spec.path) &&
        (path == "recompute" || spec.path == "recompute" ||
         (choosesLayers(path) && choosesLayers(spec.path))))
      run.options.erase(spec.path);
}

/// Paths in a file are relative to that file, wherever the program will run.
std::string Resolver::besideFile(const std::string &path) const {
  if (path.empty())
    return path;
  std::error_code error;
  std::filesystem::path full = std::filesystem::path(unit->path).parent_path() / path;
  std::filesystem::path absolute = std::filesystem::absolute(full, error);
  return (error ? full : absolute).lexically_normal().string();
}

void Resolver::addOverrides(const std::vector<Override> &overrides) {
  unit = run.model.unit;
  fromCommandLine = true;
  setHere.clear();
  for (const Override &each : overrides)
    assign(each.path, each.pathLoc, *each.value);
}

void Resolver::fillDefaults(bool demandAll) {
  for (const OptionSpec &spec : optionTable()) {
    if (run.options.count(spec.path))
      continue;
    if (spec.initial.isError() && demandAll && !unknownSeen) {
      diags.report(Code::OptionMissing, run.loc,
                   "run `" + run.name + "` does not set `" + spec.path + "`: " + spec.doc);
      run.options[spec.path] = {};
      continue;
    }
    run.options[spec.path] = {spec.initial.isError() ? Value::ofInt(1) : spec.initial, {}};
  }
  checkTogether();
}

/// A sum is as wide as its terms at least: made in fewer digits, it would lose what was computed.
void Resolver::resolveSum(const char *path, DType compute, DType automatic) {
  Option &sum = run.options[path];
  if (sum.value.isError())
    return;
  std::optional<DType> given = floatCalled(sum.value.print());
  if (!given)
    sum.value = Value::ofWord(spelling(automatic));
  else if (wider(*given, compute) != *given)
    diags
        .report(Code::OptionValue, sum.loc,
                std::string("`") + path + "` is " + spelling(*given) +
                    ", narrower than `precision.compute`, which is " + spelling(compute))
        .help(std::string("write `") + path + " = " + spelling(compute) +
              "`, or leave it out for " + spelling(automatic));
  else if (*given == DType::F64 && compute != DType::F64)
    diags
        .report(Code::OptionValue, sum.loc,
                std::string("`") + path + "` is f64, but `precision.compute` is " +
                    spelling(compute) + ": products of that are summed in f32")
        .help("f64 is for runs that are f64 throughout: set `precision.compute = f64` too");
}

/// Puts element types in the place of `auto`.
void Resolver::resolvePrecision() {
  std::optional<DType> compute = floatCalled(run["precision.compute"].print()),
                       params = floatCalled(run["precision.params"].print());
  if (!compute || !params)
    return;
  resolveSum("precision.reduce", *compute, wider(*compute, DType::F32));
  resolveSum("precision.activations_reduce", *compute, *compute);
  if (Value &state = run.options["precision.optimizer"].value; state.isWord("auto"))
    state = Value::ofWord(spelling(wider(*params, DType::F32)));
}

/// What no option can say alone.
void Resolver::checkTogether() {
  checkPolicies(run, diags);
  const Option &to = run.options["schedule.to"];
  if (to.loc.isValid() && run.options["schedule.decay"].value.isWord("constant") &&
      to.value.isNumber() && to.value.number() != 1)
    diags
        .report(Code::OptionWithoutEffect, to.loc,
                "`schedule.to` has no effect: the learning rate does not fall")
        .help("say how: `schedule.decay = linear` or `cosine`");
  checkAccumulation();
  checkEvaluation();
  resolvePrecision();
}

/// The parts of a step are equal.
void Resolver::checkAccumulation() {
  const Option &batch = run.options["data.batch"], &parts = run.options["accumulate"];
  if (batch.value.isError() || parts.value.isError() ||
      batch.value.integer % parts.value.integer == 0)
    return;
  Diagnostic &diag = diags.report(Code::Indivisible, parts.loc,
                                  "a batch of " + std::to_string(batch.value.integer) +
                                      " samples cannot be cut into " +
                                      std::to_string(parts.value.integer) + " equal parts");
  if (batch.loc.isValid())
    diag.note(batch.loc, "the batch is set here");
  diag.help("numbers that divide it: " + listDivisors(batch.value.integer));
}

void Resolver::checkEvaluation() {
  for (const char *path : {"eval.every", "eval.batches"})
    if (const Option &option = run.options[path];
        option.loc.isValid() && run.options["eval.data.path"].value.text.empty())
      diags
          .report(Code::OptionWithoutEffect, option.loc,
                  "`" + std::string(path) + "` has no effect: there are no data to evaluate on")
          .help("name them: `eval { data = text(\"FILE\") }`");
}

} // namespace

std::optional<Override> parseOverride(const std::string &argument, SourceManager &sources,
                                      DiagnosticEngine &diags) {
  size_t equals = argument.find('=');
  FileId whole = sources.addBuffer("--set", argument);
  Location all = sources.locate(whole, 0, argument.size());
  if (equals == std::string::npos || equals == 0 || equals + 1 == argument.size()) {
    diags.report(Code::BadSetArgument, all, "`--set` takes path=value");
    return std::nullopt;
  }
  std::string path = argument.substr(0, equals);
  FileId value = sources.addBuffer("--set " + path, argument.substr(equals + 1));
  ExprPtr expr = parseExpr(sources, value, diags);
  if (!expr)
    return std::nullopt;
  return Override{path, sources.locate(whole, 0, equals), std::move(expr)};
}

std::optional<Run> resolveRun(const Symbol &train, const std::vector<Override> &overrides,
                              const Library &library, DiagnosticEngine &diags) {
  size_t errorsBefore = diags.errorReports();
  Run run;
  Resolver resolver(library, diags, run);
  if (!resolver.addRun(train))
    return std::nullopt;
  resolver.addOverrides(overrides);
  resolver.fillDefaults(true);
  return diags.errorReports() == errorsBefore ? std::optional(std::move(run)) : std::nullopt;
}

std::optional<Run> defaultRun(const Symbol &model, const std::vector<Override> &overrides,
                              const Library &library, DiagnosticEngine &diags) {
  size_t errorsBefore = diags.errorReports();
  Run run;
  run.model = model;
  run.name = nameOf(*model.decl).text;
  run.modelLoc = run.loc = nameOf(*model.decl).loc;
  Resolver resolver(library, diags, run);
  resolver.addOverrides(overrides);
  resolver.fillDefaults(false);
  return diags.errorReports() == errorsBefore ? std::optional(std::move(run)) : std::nullopt;
}

} // namespace titan::sema
