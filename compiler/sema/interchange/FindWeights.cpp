#include "compiler/sema/interchange/FindWeights.h"
#include "compiler/sema/interchange/AdapterFiles.h"
#include "compiler/sema/interchange/DeclarationsFor.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <map>

namespace titan::sema {

using namespace syntax;

namespace {

/// The first declaration for the model that is not among `known`.
Symbol findNext(const Symbol &model, const Unit &unit, const Library &library,
                const std::vector<Symbol> &known) {
  auto getModel = [](const Decl &decl) -> const Path * {
    auto *weights = decl.as<WeightsDecl>();
    return weights ? &weights->model : nullptr;
  };
  for (const Symbol &each : declarationsFor(model, unit, library, getModel))
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
                                  "there is no model `" + path.text() + "` here");
  if (!library.suggestImport(diag, unit, path))
    suggestName(diag, path.loc, path.text(), library.names(unit));
}

} // namespace

static void checkComponents(const WeightsDecl &weights, const Unit &unit, const Library &library,
                            DiagnosticEngine &diags) {
  std::map<std::string, Location> seen;
  for (const WeightsDecl::Component &component : weights.components) {
    if (auto [first, isNew] = seen.try_emplace(component.parameters.text(), component.loc); !isNew)
      diags.report(Code::Redeclared, component.parameters.loc, "this component has two maps")
          .note(first->second, "the first one is here");
    checkModel(component.model, unit, library, diags);
    const Symbol model = library.lookup(unit, component.model);
    if (model && findWeights(model, unit, library).empty())
      diags
          .report(Code::WeightsOfUnknown, component.model.loc,
                  "there are no weights \"" + weights.format.text + "\" for `" +
                      component.model.text() + "`")
          .help("declare them, or write the entries of the component here: `" +
                component.parameters.text() + ".NAME = \"TENSOR\"`");
  }
}

void checkWeightNames(const Unit &unit, const Library &library, DiagnosticEngine &diags) {
  for (const DeclPtr &decl : unit.module->decls) {
    auto *weights = decl->as<WeightsDecl>();
    if (!weights || isOfAdapter(*decl, unit, library))
      continue;
    if (weights->format.text != "hf")
      diags
          .report(Code::WeightsOfUnknown, weights->format.loc,
                  "`" + weights->format.text + "` is not a format of weights")
          .fix(weights->format.loc, "\"hf\"");
    checkModel(weights->model, unit, library, diags);
    if (weights->base)
      checkModel(*weights->base, unit, library, diags);
    checkComponents(*weights, unit, library, diags);
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

/// Whether the model has parameters whose names begin with `prefix`.
static bool hasComponent(const Model &model, const std::string &prefix) {
  return std::any_of(
      model.parameters.begin(), model.parameters.end(),
      [&](const Parameter &parameter) { return parameter.name.starts_with(prefix); });
}

std::vector<const WeightsDecl::Component *> findUnmatchedComponents(const AppliedWeights &weights,
                                                                    const Model &model) {
  std::vector<const WeightsDecl::Component *> unmatched;
  for (const Symbol &symbol : weights.declarations)
    for (const WeightsDecl::Component &component : symbol.decl->as<WeightsDecl>()->components)
      if (!hasComponent(model, weights.parameters + component.parameters.text() + "."))
        unmatched.push_back(&component);
  return unmatched;
}

void forEachWeights(
    const AppliedWeights &weights, const Model &model, const Library &library,
    const std::function<void(const AppliedWeights &, const Symbol &declaration)> &visit) {
  if (!hasComponent(model, weights.parameters)) // of another variant, or the end of a recursion
    return;
  for (const Symbol &symbol : weights.declarations) {
    visit(weights, symbol);
    for (const WeightsDecl::Component &component : symbol.decl->as<WeightsDecl>()->components) {
      AppliedWeights inner{
          {}, weights.parameters + component.parameters.text() + ".", {}, &component};
      inner.tensors = weights.tensors + (component.tensors ? component.tensors->text
                                                           : component.parameters.text() + ".");
      if (const Symbol componentModel = library.lookup(*symbol.unit, component.model))
        inner.declarations = findWeights(componentModel, *symbol.unit, library);
      forEachWeights(inner, model, library, visit);
    }
  }
}

void forEachWeights(
    const std::vector<AppliedWeights> &all, const Model &model, const Library &library,
    const std::function<void(const AppliedWeights &, const Symbol &declaration)> &visit) {
  for (const AppliedWeights &weights : all)
    forEachWeights(weights, model, library, visit);
}

std::vector<AppliedWeights> findAllWeights(const Symbol &model,
                                           const std::vector<CalledModel> &called, const Unit &unit,
                                           const Library &library) {
  std::vector<AppliedWeights> all = {{findWeights(model, unit, library)}};
  for (const CalledModel &each : called)
    all.push_back({findWeights(each.model, unit, library), each.prefix, each.prefix});
  std::erase_if(all, [](const AppliedWeights &each) { return each.declarations.empty(); });
  return all;
}

} // namespace titan::sema
