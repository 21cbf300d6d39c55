#include "compiler/sema/interchange/Merges.h"
#include "compiler/sema/interchange/FindWeights.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/program/Callable.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

/// The index of the parameter; empty after an error.
static std::optional<uint32_t> findParameter(const Path &path, const std::string &component,
                                             const Model &model, DiagnosticEngine &diags) {
  const auto found =
      std::find_if(model.parameters.begin(), model.parameters.end(),
                   [&](const Parameter &each) { return each.name == component + path.text(); });
  if (found != model.parameters.end())
    return static_cast<uint32_t>(found - model.parameters.begin());
  std::vector<std::string> names;
  for (const Parameter &each : model.parameters)
    if (each.name.starts_with(component))
      names.push_back(each.name.substr(component.size()));
  Diagnostic &diag = diags.report(Code::BadMerge, path.loc,
                                  "`" + path.text() + "` is not a parameter of the model");
  if (std::string near = nearestName(path.text(), names); !near.empty())
    diag.fix(path.loc, near);
  return std::nullopt;
}

/// Adds the adapted values of parameters. `merged` has those with an entry of their own.
static void addAdapters(const Adapters &adapters, const Model &model,
                        const std::map<uint32_t, Location> &merged,
                        std::vector<Replacement> &replacements, DiagnosticEngine &diags) {
  for (uint32_t i = 0; i < model.parameters.size(); ++i) {
    const auto found = adapters.find(model.parameters[i].name);
    if (found == adapters.end())
      continue;
    const Adapter &adapter = found->second;
    if (const auto own = merged.find(i); own != merged.end())
      diags
          .report(Code::BadMerge, own->second,
                  "`" + found->first + "` has an adapter, so that its merge is the adapter's")
          .note(adapter.loc, "the adapter is chosen here");
    replacements.push_back(
        {i, nullptr, adapter.callable->callee.symbol.unit, adapter.loc, {}, &adapter});
  }
}

std::optional<Model> elaborateMerges(const std::vector<AppliedWeights> &weights, const Model &model,
                                     const Adapters &adapters, const Library &library,
                                     DiagnosticEngine &diags) {
  const size_t errorsBefore = diags.errorReports();
  std::vector<Replacement> replacements;
  std::map<uint32_t, Location> seen; // the first declaration has its own entry
  auto collect = [&](const AppliedWeights &of, const Symbol &symbol) {
    for (const WeightsDecl::Merge &merge : symbol.decl->as<WeightsDecl>()->merges) {
      const std::optional<uint32_t> parameter =
          findParameter(merge.parameter, of.parameters, model, diags);
      if (parameter && seen.try_emplace(*parameter, merge.loc).second)
        replacements.push_back(
            {*parameter, merge.value.get(), symbol.unit, merge.value->loc, of.parameters});
    }
  };
  forEachWeights(weights, model, library, collect);
  addAdapters(adapters, model, seen, replacements, diags);
  Model function;
  if (diags.errorReports() != errorsBefore ||
      !elaborateReplacements(model, replacements, library, diags, function))
    return std::nullopt;
  return function;
}

static void collectParameters(const Region &region, std::set<int64_t> &indices) {
  for (const Op &op : region.ops) {
    if (op.kind == OpKind::Parameter)
      indices.insert(op.index);
    for (const Region &body : op.body)
      collectParameters(body, indices);
  }
}

std::set<std::string> mergedParameters(const Model &merge) {
  std::set<int64_t> indices;
  collectParameters(merge.body, indices);
  std::set<std::string> names;
  for (int64_t index : indices)
    if (const Parameter &each = merge.parameters[static_cast<size_t>(index)]; !each.isUpdated)
      names.insert(each.name);
  return names;
}

} // namespace titan::sema
