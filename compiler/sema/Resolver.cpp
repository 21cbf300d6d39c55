// The chain of declarations that a run is made of: its own, the run that it derives from, and so on.
#include "compiler/sema/Resolver.h"
#include "compiler/sema/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

void Resolver::propose(Diagnostic &diag, const Path &path, const Unit &unit, Space space) {
  if (diags.isFull() || library.noteImports(diag, unit, path, space))
    return;
  std::string near = nearestName(path.text(), library.names(unit, space));
  if (near.empty())
    return;
  diag.fix(path.loc, near);
  if (Symbol symbol = library.lookup(unit, near, space))
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

/// Whether the chain may go on with `decl`.
bool Resolver::mayDerive(const TrainDecl &decl) {
  constexpr size_t deepest = 64;
  std::string what = std::find(chain.begin(), chain.end(), &decl) != chain.end()
                         ? "would derive from itself"
                     : chain.size() >= deepest
                         ? "is the end of a chain of over " + std::to_string(deepest) + " runs"
                         : "";
  if (!what.empty())
    diags.report(Code::AliasCycle, decl.base.loc, "run `" + decl.name.text + "` " + what);
  return what.empty();
}

bool Resolver::findMap(const Symbol &symbol, const TrainDecl &decl) {
  run.parallel = library.lookup(*symbol.unit, *decl.parallel, Space::Maps);
  if (run.parallel)
    return true;
  Diagnostic &diag = diags.report(Code::UnknownDeclaration, decl.parallel->loc,
                                  "no parallel map is named `" + decl.parallel->text() + "`");
  propose(diag, *decl.parallel, *symbol.unit, Space::Maps);
  return false;
}

bool Resolver::addRun(const Symbol &symbol) {
  const TrainDecl &decl = *symbol.decl->as<TrainDecl>();
  if (!mayDerive(decl))
    return false;
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
  if (decl.parallel && !findMap(symbol, decl))
    return false;
  unit = symbol.unit;
  setHere.clear();
  addSettings("", decl.settings);
  run.name = decl.name.text;
  run.loc = decl.name.loc;
  return true;
}

void Resolver::addOverrides(const std::vector<Override> &overrides) {
  unit = run.model.unit;
  fromCommandLine = true;
  setHere.clear();
  for (size_t i = 0; i < overrides.size(); ++i) {
    if (i && overrides[i - 1].fromFile != overrides[i].fromFile)
      setHere.clear(); // the command line overrides what a file says
    addSetting("", overrides[i].setting);
  }
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
}

} // namespace titan::sema
