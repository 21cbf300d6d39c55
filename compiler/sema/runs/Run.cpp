#include "compiler/sema/runs/Run.h"
#include "compiler/sema/runs/Choices.h"
#include "compiler/sema/runs/Resolver.h"

namespace titan::sema {

using namespace syntax;

/// Splits `optimizer.group."*norm".lr_scale` around the pattern. Returns false for other paths.
static bool readPattern(const std::string &path, Location at, Setting &setting) {
  size_t open = path.find(".\""), close = path.rfind("\".");
  if (open == 0 || open == std::string::npos || close == std::string::npos || close < open + 2 ||
      close + 2 == path.size())
    return false;
  auto named = [&](const std::string &text) { return Path{{{text, at}}, at}; };
  Setting entry;
  entry.path = named(path.substr(close + 2));
  entry.value = std::move(setting.value);
  entry.loc = at;
  setting.path = named(path.substr(0, open));
  setting.label = Name{path.substr(open + 2, close - open - 2), at};
  setting.block.emplace().push_back(std::move(entry));
  return true;
}

std::optional<Override> parseOverride(const std::string &argument, SourceManager &sources,
                                      DiagnosticEngine &diags) {
  size_t quote = argument.find('"'), equals = argument.find('=');
  if (quote < equals) // a pattern before the value
    equals = argument.find('=', argument.find('"', quote + 1));
  FileId whole = sources.addBuffer("--set", argument);
  Location all = sources.locate(whole, 0, argument.size());
  if (equals == std::string::npos || equals == 0 || equals + 1 == argument.size()) {
    diags.report(Code::BadSetArgument, all, "`--set` takes path=value");
    return std::nullopt;
  }
  std::string path = argument.substr(0, argument.find_last_not_of(' ', equals - 1) + 1);
  FileId value = sources.addBuffer("--set " + path, argument.substr(equals + 1));
  const OptionSpec *option = findOption(path);
  DiagnosticEngine quiet(sources);
  if (option && option->type == OptionType::String && !parseExpr(sources, value, quiet)) {
    diags
        .report(Code::OptionType, sources.locate(value, 0, argument.size() - equals - 1),
                "`" + path + "` takes a string in double quotes")
        .help("quote the setting for the shell: `--set '" + path + "=\"...\"'`");
    return std::nullopt;
  }
  ExprPtr expr = parseExpr(sources, value, diags);
  if (!expr)
    return std::nullopt;
  Location at = sources.locate(whole, 0, equals);
  Override made;
  made.setting.path = Path{{{path, at}}, at};
  made.setting.value = std::move(expr);
  made.setting.loc = all;
  if (path.find('"') != std::string::npos && !readPattern(path, at, made.setting)) {
    diags.report(Code::BadSetArgument, at, "a pattern needs a path around it")
        .help(path.rfind("parameters", 0) == 0
                  ? "write `parameters.\"*norm\".frozen=true`"
                  : "write `optimizer.group.\"*norm\".weight_decay=0`");
    return std::nullopt;
  }
  return made;
}

/// The section of a path: `optimizer` of `optimizer.lr`.
static std::string getSection(const std::string &path) {
  return path.substr(0, path.find('.'));
}

std::vector<OptionSpec> Run::allOptions() const {
  std::vector<OptionSpec> all;
  const std::vector<OptionSpec> &table = optionTable();
  for (size_t i = 0; i < table.size(); ++i) {
    OptionSpec &spec = all.emplace_back(table[i]);
    if (auto dim = dimDefaults.find(spec.path); dim != dimDefaults.end()) {
      spec.initial = Value::ofWord(dim->second);
      spec.samples = {dim->second};
    }
    const ChoiceKind *kind = choiceAt(getSection(spec.path));
    if (!kind)
      continue;
    const Chosen &chosen = this->*kind->chosen;
    if (spec.path == kind->namePath()) {
      spec.initial = Value::ofWord(chosen.initial);
      spec.samples = chosen.names;
    }
    // The options that the declaration adds follow their section of the table.
    if (i + 1 == table.size() || getSection(table[i + 1].path) != kind->section)
      all.insert(all.end(), chosen.options.begin(), chosen.options.end());
  }
  return all;
}

std::optional<Run> resolveRun(const Symbol &train, const std::vector<Override> &overrides,
                              const Library &library, DiagnosticEngine &diags) {
  size_t errorsBefore = diags.errorReports();
  Run run;
  Resolver resolver(library, diags, run);
  if (!resolver.addRun(train))
    return std::nullopt;
  resolver.addOverrides(overrides);
  resolver.fillDefaults(/*demandAll=*/true);
  completeRun(run, diags);
  return diags.errorReports() == errorsBefore ? std::optional(std::move(run)) : std::nullopt;
}

std::optional<Run> defaultRun(const Symbol &model, const std::vector<Override> &overrides,
                              const Library &library, DiagnosticEngine &diags) {
  size_t errorsBefore = diags.errorReports();
  Run run;
  run.model = model;
  run.name = getName(*model.decl).text;
  run.modelLoc = run.loc = getName(*model.decl).loc;
  Resolver resolver(library, diags, run);
  resolver.addOverrides(overrides);
  resolver.fillDefaults(/*demandAll=*/false);
  completeRun(run, diags);
  return diags.errorReports() == errorsBefore ? std::optional(std::move(run)) : std::nullopt;
}

} // namespace titan::sema
