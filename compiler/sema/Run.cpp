#include "compiler/sema/Run.h"
#include "compiler/sema/Elaborator.h"
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
  void addGroup(const Setting &setting);
  void setData(const CallExpr &call);
  void set(const std::string &path, Location pathLoc, const Expr &value);
  void unknown(const std::string &path, Location at);
  Value evaluateWords(const Expr &value);
  void forgetOtherPolicy(const std::string &path);
  void checkTogether();
  void checkRecompute();
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
      return addGroup(setting);
    return unknown(path, setting.path.loc);
  }
  if (setting.value) {
    auto *call = setting.value->as<CallExpr>();
    if (path == "data" && call)
      setData(*call);
    else if (path == "data")
      diags.report(Code::OptionType, setting.value->loc,
                   "`data` takes a source such as `text(\"FILE\")`");
    else if (path == "optimizer")
      set("optimizer.name", setting.path.loc, *setting.value);
    else
      set(path, setting.path.loc, *setting.value);
  }
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

void Resolver::addGroup(const Setting &setting) {
  Group group{setting.label->text, {}, setting.label->loc};
  static const std::vector<Setting> nothing;
  for (const Setting &entry : setting.block ? *setting.block : nothing) {
    if (entry.path.text() != "weight_decay" || !entry.value) {
      diags
          .report(Code::UnknownOption, entry.path.loc,
                  "a group has no option `" + entry.path.text() + "`")
          .help("groups set `weight_decay`");
      continue;
    }
    Value value = checkOption(*findOption("optimizer.weight_decay"), evaluate(*entry.value),
                              entry.value->loc, diags);
    if (!value.isError())
      group.weightDecay = value.number();
  }
  run.groups.push_back(group);
}

void Resolver::setData(const CallExpr &call) {
  const OptionSpec &format = *findOption("data.format");
  std::string name = call.callee.text();
  Value checked = checkOption(format, Value::ofWord(name), call.callee.loc, diags);
  run.options["data.format"] = {checked, call.callee.loc};
  if (call.args.size() != 1 || call.args[0].kind != ArgKind::Positional || !call.args[0].value) {
    diags.report(Code::OptionType, call.loc, "`" + name + "` takes the name of a file");
    return;
  }
  set("data.path", call.loc, *call.args[0].value);
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
  if (path == "data.path" && !checked.isError() && !fromCommandLine)
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
  if (!isRecompute(path))
    return;
  for (const OptionSpec &spec : optionTable())
    if (isRecompute(spec.path) && !setHere.count(spec.path) &&
        (path == "recompute" || spec.path == "recompute" ||
         (path != "recompute.save" && spec.path != "recompute.save")))
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
    set(each.path, each.pathLoc, *each.value);
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

/// What no option can say alone.
void Resolver::checkTogether() {
  checkRecompute();
  const Option &to = run.options["schedule.to"];
  if (to.loc.isValid() && run.options["schedule.decay"].value.isWord("constant") &&
      to.value.isNumber() && to.value.number() != 1)
    diags
        .report(Code::OptionWithoutEffect, to.loc,
                "`schedule.to` has no effect: the learning rate does not fall")
        .help("say how: `schedule.decay = linear` or `cosine`");
  const Option &reduce = run.options["precision.reduce"],
               &compute = run.options["precision.compute"];
  if (!reduce.loc.isValid() && !compute.value.isError())
    run.options["precision.reduce"].value = compute.value;
  else if (reduce.value.print() != compute.value.print() && !reduce.value.isError())
    diags.report(Code::OptionValue, reduce.loc,
                 "`precision.reduce` must be `precision.compute`, which is " +
                     compute.value.print());
}

/// The ways to say which layers are computed again exclude one another.
void Resolver::checkRecompute() {
  auto isSet = [&](const char *path) { return run.options[path].loc.isValid(); };
  const char *given = nullptr;
  for (const char *path : {"recompute", "recompute.every", "recompute.layers"}) {
    if (!isSet(path))
      continue;
    if (given)
      diags
          .report(Code::OptionWithoutEffect, run.options[path].loc,
                  "`" + std::string(path) + "` cannot stand beside `" + given + "`")
          .note(run.options[given].loc, "this says already which layers are computed again");
    given = path;
  }
  if (isSet("recompute") && isSet("recompute.save"))
    diags
        .report(Code::OptionWithoutEffect, run.options["recompute.save"].loc,
                "`recompute.save` cannot stand beside `recompute`")
        .note(run.options["recompute"].loc, "this says already what is kept")
        .help("`recompute.save` alone means all layers");
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
