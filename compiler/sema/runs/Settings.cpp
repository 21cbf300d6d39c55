// Resolves one setting: its option and its value.
#include "compiler/sema/modules/SetsOnce.h"
#include "compiler/sema/runs/Choices.h"
#include "compiler/sema/runs/EvalNames.h"
#include "compiler/sema/runs/Optimizers.h"
#include "compiler/sema/runs/ParameterRules.h"
#include "compiler/sema/runs/Resolver.h"

#include "base/data/DataPaths.h"
#include "base/settings/UnknownSetting.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace titan::sema {

using namespace syntax;

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
    diags.report(Code::UnknownOption, setting.path.loc, "no pattern follows `" + path + "`")
        .help(
            "patterns are allowed in `optimizer { group \"PATTERN\" { ... } }` and in `parameters "
            "\"PATTERN\" { ... }`");
    return;
  }
  if (setting.value)
    setOptionOrSection(path, setting.path.loc, *setting.value);
  if (!setting.block)
    return;
  auto isSection = [&](const std::string &all) { return all.rfind(path + ".", 0) == 0; };
  bool known = path == "model" || path == "parallel" ||
               std::any_of(optionTable().begin(), optionTable().end(),
                           [&](const OptionSpec &spec) { return isSection(spec.path); });
  if (const OptionSpec *option = findOption(path); option && !known) {
    unknownSeen = true;
    diags
        .report(Code::OptionType, setting.path.loc,
                "`" + path + "` takes a value, not a section in braces")
        .help("write `" + path + " = " +
              (option->initial.isError() ? "..." : option->initial.print()) + "`");
    return;
  }
  if (known)
    addSettings(path + ".", *setting.block);
  else
    reportUnknown(path, setting.path.loc);
}

/// Sets an option, or the value of a section: `optimizer = adamw`, and `data = text("FILE")` in any
/// section.
void Resolver::setOptionOrSection(const std::string &path, Location pathLoc, const Expr &value) {
  auto *call = value.as<CallExpr>();
  bool isData = findOption(path + ".format");
  if (isData && call)
    setData(path, *call);
  else if (isData) {
    unknownSeen = true; // options of this section are not missing
    diags.report(Code::OptionType, value.loc,
                 "`" + path + "` takes a source such as `text(\"FILE\")`");
  } else
    set(choiceAt(path) ? choiceAt(path)->namePath() : path, pathLoc, value);
}

void Resolver::setData(const std::string &path, const CallExpr &call) {
  const OptionSpec &format = *findOption(path + ".format");
  std::string name = call.callee.text();
  Value checked = checkOption(format, Value::ofWord(name), call.callee.loc, diags);
  run.options[format.path] = {checked, call.callee.loc, {}, run.layer};
  unknownSeen |= checked.isError(); // options of this section are not missing
  if (call.args.size() != 1 || call.args[0].kind != ArgKind::Positional || !call.args[0].value) {
    diags.report(Code::OptionType, call.loc, "`" + name + "` takes the name of a file");
    return;
  }
  const Expr &file = *call.args[0].value;
  if (auto *name = file.as<StringExpr>(); name && name->value.empty()) {
    diags.report(Code::OptionValue, file.loc, "`" + path + "` has an empty file name");
    return;
  }
  set(path + ".path", call.loc, file);
}

/// Names by which other software sets the element type of computations.
static bool isElementType(const std::string &path) {
  static const std::set<std::string> names = {"dtype", "torch_dtype",     "bf16",
                                              "fp16",  "mixed_precision", "amp"};
  return names.count(path) != 0;
}

void Resolver::reportUnknown(const std::string &path, Location at) {
  unknownSeen = true; // a missing option may be this misspelt one
  std::vector<std::string> paths;
  for (const OptionSpec &spec : run.allOptions())
    paths.push_back(spec.path);
  bool isPattern = path.rfind("optimizer.group.", 0) == 0 || path.rfind("parameters.", 0) == 0;
  diags.report(Code::UnknownOption, at, "there is no option `" + path + "`")
      .help(isPattern ? "write a pattern in quotes: `parameters.\"*norm\".frozen=true`, "
                        "`optimizer.group.\"*norm\".weight_decay=0`"
            : isModelArgument(path) ? "an argument of the model is set as `model." + path + "`"
            : isElementType(path)
                ? "write `precision.compute = bf16`: the element type of computations"
                : helpForUnknown(path, paths));
}

/// Reports a malformed list of data sets.
static void checkDataPaths(const std::string &path, const std::string &text, Location at,
                           DiagnosticEngine &diags) {
  const bool trains = path == "data.path";
  if (!trains && path != "eval.data.path")
    return;
  auto [paths, problem] = parseDataPaths(text);
  if (problem.empty() && trains && !paths[0].name.empty())
    problem = "`" + paths[0].name + "=` names an evaluation set";
  if (problem.empty() && !trains && paths.size() > 1 && paths[0].name.empty())
    problem = "an evaluation reads every sample once and cannot mix sets";
  if (problem.empty())
    return;
  diags.report(Code::OptionValue, at, "`" + path + "` names several data sets, but " + problem)
      .help(trains ? "write a weight before each path: \"0.7 web 0.3 code\""
                   : "write a name before each path: \"web=valid/web code=valid/code\"");
}

void Resolver::set(const std::string &written, Location pathLoc, const Expr &expr) {
  const std::string &path = currentPath(written);
  if (path != written)
    diags.report(Code::RenamedOption, pathLoc, "`" + written + "` is now named `" + path + "`")
        .fix(pathLoc, path);
  if (!setsOnce(setHere, path, pathLoc, diags))
    return;
  auto under = [&](const char *section) { return path.rfind(section, 0) == 0; };
  if (under("model.")) {
    run.modelArguments[path.substr(6)] = {evaluateArgument(path.substr(6), expr), pathLoc};
    return;
  }
  if (under("parallel.")) {
    Value degree = evaluate(expr);
    if (fromConfig && degree.kind == Value::Kind::String)
      degree = Value::ofWord(degree.text);
    run.degrees[path.substr(9)] = {degree, expr.loc};
    return;
  }
  if (const ChoiceKind *kind = choiceAt(path))
    return setChoice(*kind, pathLoc, expr);
  const OptionSpec *spec = findOption(path);
  for (const ChoiceKind &kind : choiceKinds())
    if (!spec)
      spec = findOption((run.*kind.chosen).options, path);
  const bool isName = expr.as<NameExpr>(); // a size is not a name
  if (!spec && under("data.") && path.find('.', 5) == std::string::npos && !isName)
    return setDataSize(path, pathLoc, expr);
  if (!spec)
    return reportUnknown(path, pathLoc);
  if (auto *name = expr.as<NameExpr>(); name && spec->type == OptionType::String) {
    diags.report(Code::OptionType, expr.loc, "`" + path + "` takes a string in double quotes")
        .fix(expr.loc, '"' + name->path.text() + '"');
    return;
  }
  Value value = evaluateFor(*spec, expr);
  resetReplaced(path);
  Value checked = checkOption(*spec, value, expr.loc, diags);
  if (isPath(*spec, checked)) {
    checkDataPaths(path, checked.text, expr.loc, diags);
    checked.text = mapPaths(checked.text,
                            [&](const std::string &one) { return relativeToFile(one, expr.loc); });
  }
  run.options[path] = {checked, expr.loc, {}, run.layer};
}

/// `data.height = 28`: the size of a dimension of arrays. Whether the data are arrays is known
/// after all settings.
void Resolver::setDataSize(const std::string &path, Location pathLoc, const Expr &expr) {
  OptionSpec spec = *findOption("data.batch");
  spec.path = path;
  run.dataSizes[path.substr(5)] = {checkOption(spec, evaluate(expr), expr.loc, diags), expr.loc,
                                   pathLoc};
}

/// Data of tokens have two dimensions, samples and positions; sizes of others need arrays.
void Resolver::checkDataSizes() {
  if (const Option &format = run.options["data.format"];
      format.value.isWord("arrays") || format.value.isError())
    return;
  for (const auto &[name, option] : run.dataSizes)
    reportUnknown("data." + name, option.nameLoc);
  run.dataSizes.clear();
}

void Resolver::choose(const ChoiceKind &kind, const Symbol &symbol) {
  if (sema::choose(kind, symbol, run, library, diags) && kind.ns == Namespace::Optimizers)
    dropForeignGroupOptions(run);
}

/// Chooses the optimizer and the schedule that a setting names. Precedes all other settings,
/// because the declarations determine the options.
void Resolver::chooseDeclarations(const std::string &prefix, const Setting &setting) {
  const std::string path = prefix + setting.path.text();
  const ChoiceKind *kind = choiceAt(path);
  if (!kind)
    return;
  if (setting.value)
    if (std::optional<Path> name = chosenName(*setting.value))
      if (Symbol found = lookupChoice(*kind, *name, *unit, run, library))
        choose(*kind, found);
  if (setting.block && !setting.label && path == kind->section)
    for (const Setting &inner : *setting.block)
      chooseDeclarations(path + ".", inner);
}

void Resolver::chooseDefaults() {
  for (const ChoiceKind &kind : choiceKinds())
    chooseDefault(kind, *unit, run, library, diags);
}

void Resolver::setChoice(const ChoiceKind &kind, Location pathLoc, const Expr &expr) {
  std::optional<Path> path = chosenName(expr);
  if (!path)
    return reportNoName(kind, expr, diags);
  if (findChoice(kind, *path, *unit, run, library, diags))
    run.options[kind.namePath()] = {Value::ofWord(path->text()), expr.loc, pathLoc, run.layer};
}

/// An unknown name is reported as an invalid value of the option.
Value Resolver::evaluateFor(const OptionSpec &spec, const Expr &expr) {
  if (auto *call = expr.as<CallExpr>(); call && spec.type == OptionType::Choice) {
    const std::string name = call->callee.text();
    diags.report(Code::OptionType, expr.loc, "`" + spec.path + "` takes a word, not a call")
        .help("write its settings in braces: `" + name + " { ... }`");
    return {};
  }
  if (spec.type == OptionType::Choice || spec.type == OptionType::Words ||
      spec.type == OptionType::Dimension)
    return evalNames(expr, [&](const Expr &other) { return evaluate(other); });
  auto *name = expr.as<NameExpr>();
  bool isWord = name && name->path.isSimple() && !library.lookup(*unit, name->path);
  return isWord ? Value::ofWord(name->path.text()) : evaluate(expr);
}

/// Whether a setting of one path replaces the setting of the other in a base run.
static bool replaces(const std::string &path, const std::string &other) {
  auto isRecompute = [](const std::string &all) { return all.rfind("recompute", 0) == 0; };
  auto choosesLayers = [](const std::string &all) {
    return all == "recompute.every" || all == "recompute.layers";
  };
  auto cutsStages = [](const std::string &all) {
    return all == "pipeline.layers_per_stage" || all == "pipeline.cuts";
  };
  if (isRecompute(path) && isRecompute(other))
    return path == "recompute" || other == "recompute" ||
           (choosesLayers(path) && choosesLayers(other));
  return cutsStages(path) && cutsStages(other);
}

/// `recompute = none` overrides all recomputation settings of the base run, and vice versa.
void Resolver::resetReplaced(const std::string &path) {
  for (const OptionSpec &spec : optionTable())
    if (!setHere.count(spec.path) && replaces(path, spec.path))
      run.options.erase(spec.path);
}

/// Paths in a file are relative to that file; paths of a command line to the working directory.
std::string Resolver::relativeToFile(const std::string &path, Location loc) const {
  if (path.empty())
    return path;
  std::error_code error;
  std::filesystem::path file(unit->path), full;
  if (fromConfig)
    file = diags.sourceManager().name(loc.file);
  full = fromCommandLine && !fromConfig ? std::filesystem::path(path) : file.parent_path() / path;
  std::filesystem::path absolute = std::filesystem::absolute(full, error);
  return (error ? full : absolute).lexically_normal().string();
}

} // namespace titan::sema
