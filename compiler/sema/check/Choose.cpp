// Selects the run or the model of a file, and checks the arguments of a model.
#include "compiler/sema/check/Check.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

static constexpr unsigned maxDepth = 64; ///< chain of declarations that derive from one another

/// Whether all arguments of a model have values; `given` names those that have. An unresolved model
/// counts as complete, so that it is elaborated and reported. `depth` is that of the derivation.
bool Checker::isComplete(const Symbol &model, std::set<std::string> given, unsigned depth) const {
  if (auto *decl = model.decl->as<ModelDecl>())
    return std::all_of(decl->formals.begin(), decl->formals.end(), [&](const Formal &formal) {
      return formal.defaultValue || given.count(formal.name.text);
    });
  const ModelAliasDecl &alias = *model.decl->as<ModelAliasDecl>();
  for (const Setting &setting : alias.settings)
    given.insert(setting.path.text());
  Symbol base = library.lookup(*model.unit, alias.base);
  bool isModel = base && (base.decl->is<ModelDecl>() || base.decl->is<ModelAliasDecl>());
  return !isModel || depth > maxDepth || isComplete(base, std::move(given), depth + 1);
}

/// Runs, or models without open arguments, in source order.
std::vector<Symbol> Checker::listDeclared(bool runs) const {
  std::vector<Symbol> found;
  std::set<std::string> given; // by the command line
  for (const Override &override : overrides)
    if (std::string path = override.setting.path.text(); path.rfind("model.", 0) == 0)
      given.insert(path.substr(6));
  for (const DeclPtr &decl : unit->module->decls) {
    Symbol symbol{decl.get(), unit};
    bool isModel = decl->is<ModelDecl>() || decl->is<ModelAliasDecl>();
    if (runs ? decl->is<TrainDecl>() : isModel && isComplete(symbol, given, 0))
      found.push_back(symbol);
  }
  return found;
}

/// The model of a run; null if it cannot be resolved.
const Decl *Checker::findModel(Symbol run) const {
  for (unsigned depth = 0; run && depth < maxDepth; ++depth) {
    const TrainDecl &decl = *run.decl->as<TrainDecl>();
    if (!decl.derived)
      return library.lookup(*run.unit, decl.base).decl;
    run = library.lookup(*run.unit, decl.base, Namespace::Runs);
  }
  return nullptr;
}

std::vector<std::string> Checker::candidateModels() const {
  std::vector<std::string> names;
  if (listDeclared(/*runs=*/true).empty())
    for (const Symbol &model : listDeclared(/*runs=*/false))
      names.push_back(getName(*model.decl).text);
  return names;
}

std::optional<Symbol> Checker::chooseModel() {
  std::vector<std::string> names;
  for (const Symbol &model : listDeclared(/*runs=*/false)) {
    names.push_back(getName(*model.decl).text);
    if (names.back() == request.model)
      return model;
  }
  diags
      .report(Code::UnknownDeclaration, {},
              "`" + request.file + "` has no model named `" + request.model +
                  "` all of whose arguments have values")
      .help("its complete models are " + listNames(names));
  return std::nullopt;
}

/// A minimal run of the model, for messages.
static std::string exampleRun(const std::string &model) {
  return "`train NAME = " + model + " { data = text(\"FILE\") { seq = 256, batch = 8 } }`";
}

/// Reports a selected model where a run is needed for data and batches.
void Checker::reportNoRun(const Symbol &model) {
  const Name &name = getName(*model.decl);
  diags
      .report(Code::NothingToCompile, name.loc,
              request.train.empty() ? "`" + request.file + "` has no run to build"
                                    : "`" + name.text + "` is a model, not a run to build")
      .help("add " + exampleRun(name.text) + ", or look at a model by `titanc info --model " +
            name.text + " " + request.file + "`");
}

std::optional<Symbol> Checker::choose() {
  if (!request.model.empty())
    return chooseModel();
  std::vector<Symbol> trains = listDeclared(/*runs=*/true);
  std::vector<std::string> names;
  for (const Symbol &train : trains) {
    names.push_back(getName(*train.decl).text);
    if (names.back() == request.train)
      return train;
  }
  for (const Symbol &model : listDeclared(/*runs=*/false)) // to inspect it without a run
    if (getName(*model.decl).text == request.train)
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
    Diagnostic &diag = diags.report(Code::SeveralRuns, getName(*trains[1].decl).loc,
                                    "`" + request.file + "` has several runs: " + listNames(names));
    diag.help("choose one with `--train " + names[0] + "`");
    return std::nullopt;
  }
  std::vector<Symbol> models = listDeclared(/*runs=*/false);
  if (!models.empty())
    return models.back();
  Diagnostic &diag = diags.report(
      Code::NothingToCompile, {},
      "`" + request.file + "` has no run, and no model all of whose arguments have values");
  for (const DeclPtr &decl : unit->module->decls)
    if (auto *model = decl->as<ModelDecl>())
      for (const Formal &formal : model->formals)
        if (!formal.defaultValue) {
          diag.help("model `" + model->name.text + "` needs `" + formal.name.text +
                    "`: give it a run" +
                    (request.needsRun ? "" : ", or `--set model." + formal.name.text + "=...`"));
          return std::nullopt;
        }
  diag.help("write one: " + exampleRun("MODEL"));
  return std::nullopt;
}

} // namespace titan::sema
