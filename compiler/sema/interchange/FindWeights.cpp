#include "compiler/sema/interchange/FindWeights.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

/// The declaration of `unit` for exactly this model.
Symbol declaredFor(const Symbol &model, const Unit &unit, const Library &library) {
  for (const DeclPtr &decl : unit.module->decls)
    if (auto *weights = decl->as<WeightsDecl>())
      if (library.lookup(unit, weights->model).decl == model.decl)
        return {weights, &unit};
  return {};
}

/// The model and those that it derives from.
std::vector<Symbol> derivation(Symbol model, const Library &library) {
  std::vector<Symbol> chain;
  auto isNew = [&] {
    return std::none_of(chain.begin(), chain.end(),
                        [&](const Symbol &known) { return known.decl == model.decl; });
  };
  while (model && isNew()) {
    chain.push_back(model);
    auto *alias = model.decl->as<ModelAliasDecl>();
    model = alias ? library.lookup(*model.unit, alias->base) : Symbol{};
  }
  return chain;
}

Symbol find(const Symbol &model, const Unit &unit, const Library &library) {
  const std::vector<Symbol> chain = derivation(model, library);
  for (const Symbol &each : chain)
    if (Symbol found = declaredFor(each, unit, library))
      return found;
  for (const Symbol &each : chain)
    if (Symbol found = declaredFor(each, *each.unit, library))
      return found;
  return {};
}

void checkModel(const Path &path, const Unit &unit, const Library &library,
                DiagnosticEngine &diags) {
  Symbol found = library.lookup(unit, path);
  if (found && (found.decl->is<ModelDecl>() || found.decl->is<ModelAliasDecl>()))
    return;
  Diagnostic &diag = diags.report(Code::WeightsOfUnknown, path.loc,
                                  "no model is called `" + path.text() + "` here");
  if (!library.suggestImport(diag, unit, path))
    suggestName(diag, path.loc, path.text(), library.names(unit));
}

} // namespace

void checkWeightNames(const Unit &unit, const Library &library, DiagnosticEngine &diags) {
  for (const DeclPtr &decl : unit.module->decls) {
    auto *weights = decl->as<WeightsDecl>();
    if (!weights)
      continue;
    if (weights->format.text != "hf")
      diags
          .report(Code::WeightsOfUnknown, weights->format.loc,
                  "`" + weights->format.text + "` is no format of weights")
          .fix(weights->format.loc, "\"hf\"");
    checkModel(weights->model, unit, library, diags);
    if (weights->base)
      checkModel(*weights->base, unit, library, diags);
  }
}

std::vector<Symbol> findWeights(const Symbol &model, const Unit &unit, const Library &library) {
  std::vector<Symbol> found;
  auto isNew = [&](const Symbol &next) {
    return std::none_of(found.begin(), found.end(),
                        [&](const Symbol &known) { return known.decl == next.decl; });
  };
  Symbol next = find(model, unit, library);
  while (next && isNew(next)) {
    found.push_back(next);
    const auto &weights = *next.decl->as<WeightsDecl>();
    if (!weights.base)
      break;
    const Symbol base = library.lookup(*next.unit, *weights.base);
    next = base ? find(base, *next.unit, library) : Symbol{};
  }
  return found;
}

} // namespace titan::sema
