#include "compiler/sema/interchange/FindWeights.h"
#include "compiler/sema/interchange/DeclarationsFor.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

/// The first declaration for the model that is not among `known`.
Symbol findNext(const Symbol &model, const Unit &unit, const Library &library,
                const std::vector<Symbol> &known) {
  auto modelOf = [](const Decl &decl) -> const Path * {
    auto *weights = decl.as<WeightsDecl>();
    return weights ? &weights->model : nullptr;
  };
  for (const Symbol &each : declarationsFor(model, unit, library, modelOf))
    if (std::none_of(known.begin(), known.end(),
                     [&](const Symbol &other) { return other.decl == each.decl; }))
      return each;
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
  Symbol next = findNext(model, unit, library, found);
  while (next) {
    found.push_back(next);
    const auto &weights = *next.decl->as<WeightsDecl>();
    const Symbol base = weights.base ? library.lookup(*next.unit, *weights.base) : Symbol{};
    next = base ? findNext(base, *found.back().unit, library, found) : Symbol{};
  }
  return found;
}

} // namespace titan::sema
