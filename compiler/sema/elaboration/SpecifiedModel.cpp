#include "compiler/sema/elaboration/SpecifiedModel.h"
#include "compiler/sema/modules/Derivation.h"
#include "compiler/sema/modules/SetsOnce.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

static bool isModel(const Symbol &symbol) {
  return symbol && (symbol.decl->is<ModelDecl>() || symbol.decl->is<ModelAliasDecl>());
}

static bool collect(const Symbol &model, const Library &library, DiagnosticEngine &diags,
                    std::vector<Derivation> &chain, SpecifiedModel &found) {
  if (model.decl->is<ModelDecl>()) {
    found.base = model;
    return true;
  }
  const ModelAliasDecl &alias = *model.decl->as<ModelAliasDecl>();
  if (!extendChain(chain, {&alias.name, alias.base.loc}, "model", diags))
    return false;
  Symbol parent = library.lookup(*model.unit, alias.base);
  if (!isModel(parent)) {
    Diagnostic &diag = diags.report(Code::UnknownDeclaration, alias.base.loc,
                                    "no model is named `" + alias.base.text() + "`");
    suggestName(diag, alias.base.loc, alias.base.text(), library.names(*model.unit));
    return false;
  }
  if (!collect(parent, library, diags, chain, found))
    return false;
  std::map<std::string, Location> here;
  for (const Setting &setting : alias.settings) {
    if (!setting.value || setting.block || !setting.path.isSimple()) {
      diags.report(Code::UnknownModelArgument, setting.loc,
                   "a model's arguments are set as `name = value`");
      continue;
    }
    setsOnce(here, setting.path.text(), setting.path.loc, diags);
    Value value = evalConstant(*setting.value, library, *model.unit, diags);
    found.arguments[setting.path.text()] = {value, setting.path.loc};
  }
  return true;
}

Symbol findBaseModel(Symbol model, const Library &library) {
  constexpr unsigned maxDepth = 64; // chain of models that derive from one another
  for (unsigned depth = 0; isModel(model) && depth < maxDepth; ++depth) {
    if (model.decl->is<ModelDecl>())
      return model;
    model = library.lookup(*model.unit, model.decl->as<ModelAliasDecl>()->base);
  }
  return {};
}

bool checkArguments(const SpecifiedModel &model, DiagnosticEngine &diags) {
  const ModelDecl &decl = *model.base.decl->as<ModelDecl>();
  std::vector<std::string> names;
  for (const Formal &formal : decl.formals)
    names.push_back(formal.name.text);
  bool good = true;
  for (const auto &[name, argument] : model.arguments) {
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

std::optional<SpecifiedModel> specifyModel(const Symbol &model, const Library &library,
                                           DiagnosticEngine &diags) {
  SpecifiedModel found;
  std::vector<Derivation> chain;
  if (!collect(model, library, diags, chain, found))
    return std::nullopt;
  return found;
}

} // namespace titan::sema
