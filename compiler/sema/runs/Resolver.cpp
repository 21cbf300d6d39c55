// Follows the derivation chain of a run.
#include "compiler/sema/runs/Resolver.h"
#include "compiler/sema/elaboration/SpecifiedModel.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/runs/DataDims.h"

namespace titan::sema {

using namespace syntax;

void Resolver::suggest(Diagnostic &diag, const Path &path, const Unit &unit, Namespace ns) {
  if (diags.isFull() || library.noteImports(diag, unit, path, ns) ||
      (ns == Namespace::Code && library.suggestImport(diag, unit, path)))
    return;
  std::string near = nearestName(path.text(), library.names(unit, ns));
  if (near.empty())
    return;
  diag.fix(path.loc, near);
  if (Symbol symbol = library.lookup(unit, near, ns))
    diag.note(getName(*symbol.decl).loc, "`" + near + "` is declared here");
}

/// The model of a run, or its base run.
Symbol Resolver::findBase(const Symbol &symbol, const TrainDecl &decl) {
  Namespace wanted = decl.derived ? Namespace::Runs : Namespace::Code;
  Namespace other = decl.derived ? Namespace::Code : Namespace::Runs;
  const char *kind = decl.derived ? "run" : "model";
  Symbol base = library.lookup(*symbol.unit, decl.base, wanted);
  Symbol map = library.lookup(*symbol.unit, decl.base, Namespace::Maps);
  if (base && (decl.derived || base.decl->is<ModelDecl>() || base.decl->is<ModelAliasDecl>()))
    return base;
  Symbol wrong = base ? base : library.lookup(*symbol.unit, decl.base, other);
  if (!wrong)
    wrong = map;
  if (wrong) {
    Diagnostic &diag = diags.report(Code::WrongKindOfDeclaration, decl.base.loc,
                                    "`" + decl.base.text() + "` is a " + getKindName(*wrong.decl) +
                                        ", but a " + kind + " is needed here");
    diag.note(getName(*wrong.decl).loc, "declared here");
    if (wrong.decl == map.decl)
      diag.help("a map follows `on`: `train NAME = MODEL on " + decl.base.text() + "`");
    if (wrong.decl->is<TrainDecl>())
      diag.help("to derive from a run, write `with`: `train NAME = " + decl.base.text() +
                " with { ... }`");
    return {};
  }
  Diagnostic &diag =
      diags.report(Code::UnknownDeclaration, decl.base.loc,
                   "no " + std::string(kind) + " is named `" + decl.base.text() + "`");
  suggest(diag, decl.base, *symbol.unit, wanted);
  return {};
}

bool Resolver::findMap(const Symbol &symbol, const TrainDecl &decl) {
  run.parallel = library.lookup(*symbol.unit, *decl.parallel, Namespace::Maps);
  if (run.parallel)
    return true;
  for (Namespace ns : {Namespace::Code, Namespace::Runs})
    if (Symbol wrong = library.lookup(*symbol.unit, *decl.parallel, ns)) {
      diags
          .report(Code::WrongKindOfDeclaration, decl.parallel->loc,
                  "`" + decl.parallel->text() + "` is a " + getKindName(*wrong.decl) +
                      ", but a parallel map is needed here")
          .note(getName(*wrong.decl).loc, "declared here")
          .help("a map says what is split: `parallel pod { shard = 2 splits batch }`");
      return false;
    }
  Diagnostic &diag = diags.report(Code::UnknownDeclaration, decl.parallel->loc,
                                  "no parallel map is named `" + decl.parallel->text() + "`");
  suggest(diag, *decl.parallel, *symbol.unit, Namespace::Maps);
  return false;
}

bool Resolver::addRun(const Symbol &symbol) {
  const TrainDecl &decl = *symbol.decl->as<TrainDecl>();
  if (!extendChain(chain, {&decl.name, decl.base.loc}, "run", diags))
    return false;
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
  ++run.layer;
  for (const Setting &setting : decl.settings)
    chooseDeclarations("", setting);
  chooseDefaults();
  addSettings("", decl.settings);
  run.name = decl.name.text;
  run.loc = decl.name.loc;
  return true;
}

void Resolver::addOverrides(const std::vector<Override> &overrides) {
  unit = unit ? unit : run.model.unit; // null if there is no run
  fromCommandLine = true;
  setHere.clear();
  ++run.layer;
  for (const Override &override : overrides)
    chooseDeclarations("", override.setting);
  chooseDefaults();
  for (size_t i = 0; i < overrides.size(); ++i) {
    if (i && overrides[i - 1].fromFile != overrides[i].fromFile) {
      setHere.clear(); // the command line overrides files
      ++run.layer;
    }
    fromConfig = overrides[i].fromFile;
    addSetting("", overrides[i].setting);
  }
}

/// Whether another option makes a required option optional.
bool Resolver::isOptional(const OptionSpec &spec) const {
  auto other = run.options.find(spec.optionalWith.first);
  return other != run.options.end() && other->second.value.isWord(spec.optionalWith.second);
}

void Resolver::fillDefaults(bool demandAll) {
  run.options.try_emplace("data.format", Option{findOption("data.format")->initial, {}});
  if (Symbol base = findBaseModel(run.model, library)) {
    const DataDims dims = defaultDataDims(*base.unit, library);
    run.dimDefaults = {{"data.samples", dims.samples}, {"data.positions", dims.positions}};
  }
  checkDataSizes();
  std::vector<const OptionSpec *> missing;
  const std::vector<OptionSpec> all = run.allOptions();
  for (const OptionSpec &spec : all) {
    if (run.options.count(spec.path))
      continue;
    bool isMissing = spec.initial.isError() && demandAll && !unknownSeen && !isOptional(spec);
    run.options[spec.path] = {isMissing                ? Value()
                              : spec.initial.isError() ? Value::ofInt(1)
                                                       : spec.initial,
                              {}};
    if (isMissing)
      missing.push_back(&spec);
  }
  if (missing.empty())
    return;
  // A missing option is missing in all derived runs; report it once, at the first run.
  const Name &first = *chain.back().name;
  std::vector<std::string> paths;
  for (const OptionSpec *spec : missing)
    paths.push_back(spec->path);
  Diagnostic &diag = diags.report(Code::OptionMissing, first.loc,
                                  "run `" + first.text + "` does not set " + listNames(paths));
  for (const OptionSpec *spec : missing)
    diag.note("`" + spec->path + "`: " + spec->doc);
  diag.help("write `data = text(\"FILE\") { seq = 256, batch = 8 }`");
}

} // namespace titan::sema
