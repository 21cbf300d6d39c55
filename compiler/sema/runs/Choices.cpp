#include "compiler/sema/runs/Choices.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/runs/DeclaredOptions.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

const ChoiceKind optimizerChoice{Namespace::Optimizers, "optimizer", &Run::optimizer};

const ChoiceKind scheduleChoice{Namespace::Schedules, "schedule", &Run::schedule};

const std::vector<ChoiceKind> &choiceKinds() {
  static const std::vector<ChoiceKind> kinds = {optimizerChoice, scheduleChoice};
  return kinds;
}

const ChoiceKind *choiceAt(const std::string &path) {
  for (const ChoiceKind &kind : choiceKinds())
    if (path == kind.section || path == kind.namePath())
      return &kind;
  return nullptr;
}

std::optional<Path> chosenName(const Expr &expr) {
  if (auto *name = expr.as<NameExpr>())
    return name->path;
  if (auto *text = expr.as<StringExpr>())
    return Path{{{text->value, text->loc}}, text->loc};
  return std::nullopt;
}

void reportNoName(const ChoiceKind &kind, const Expr &expr, DiagnosticEngine &diags) {
  auto *call = expr.as<CallExpr>();
  const std::string path = "`" + kind.namePath() + "`";
  const std::string article = kind.ns == Namespace::Optimizers ? "an " : "a ";
  Diagnostic &diag = diags.report(Code::OptionType, expr.loc,
                                  call ? path + " takes a word, not a call"
                                       : path + " takes the name of " + article + kind.section);
  if (call)
    diag.help("write its settings in braces: `" + call->callee.text() + " { ... }`");
}

Symbol lookupChoice(const ChoiceKind &kind, const Path &path, const Unit &unit, const Run &run,
                    const Library &library) {
  for (const Unit *candidate : {&unit, run.model.unit})
    if (candidate)
      if (Symbol symbol = library.lookup(*candidate, path, kind.ns))
        return symbol;
  return {};
}

/// The names that are visible in a file, without qualified ones.
static std::vector<std::string> visibleNames(const ChoiceKind &kind, const Unit &unit,
                                             const Library &library) {
  std::vector<std::string> names = library.names(unit, kind.ns);
  std::erase_if(names, [](const std::string &name) { return name.find('.') != std::string::npos; });
  return names;
}

Symbol findChoice(const ChoiceKind &kind, const Path &path, const Unit &unit, const Run &run,
                  const Library &library, DiagnosticEngine &diags) {
  if (Symbol symbol = lookupChoice(kind, path, unit, run, library))
    return symbol;
  Diagnostic &diag =
      diags.report(Code::OptionValue, path.loc,
                   std::string("no ") + kind.section + " is named `" + path.text() + "`");
  suggestName(diag, path.loc, path.text(), visibleNames(kind, unit, library), "known are ");
  return {};
}

bool choose(const ChoiceKind &kind, const Symbol &symbol, Run &run, const Library &library,
            DiagnosticEngine &diags) {
  Chosen &chosen = run.*kind.chosen;
  if (chosen.symbol && chosen.symbol.decl == symbol.decl)
    return false;
  for (const OptionSpec &spec : chosen.options)
    run.options.erase(spec.path);
  chosen.symbol = symbol;
  chosen.options = readOptionSpecs(symbol, library, diags);
  const std::string section = std::string(kind.section) + ".";
  for (OptionSpec &spec : chosen.options) {
    spec.path = section + spec.path;
    if (!spec.needs.empty())
      spec.needs = section + spec.needs;
  }
  return true;
}

void chooseDefault(const ChoiceKind &kind, const Unit &unit, Run &run, const Library &library,
                   DiagnosticEngine &diags) {
  Chosen &chosen = run.*kind.chosen;
  Symbol found = library.findDefault(unit, kind.ns);
  if (!found)
    return;
  if (!chosen.symbol)
    choose(kind, found, run, library, diags);
  chosen.initial = getName(*found.decl).text;
  chosen.names = visibleNames(kind, unit, library);
}

} // namespace titan::sema
