#include "compiler/sema/interchange/Merges.h"
#include "compiler/sema/interchange/FindWeights.h"
#include "compiler/sema/modules/Suggest.h"

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

std::optional<Model> elaborateMerges(const std::vector<Symbol> &declarations, const Model &model,
                                     const Library &library, DiagnosticEngine &diags) {
  const size_t errorsBefore = diags.errorReports();
  std::vector<Replacement> replacements;
  std::map<uint32_t, Location> seen; // the first declaration has its own entry
  auto collect = [&](const AppliedWeights &of, const Symbol &symbol) {
    for (const WeightsDecl::Merge &merge : symbol.decl->as<WeightsDecl>()->merges) {
      const std::optional<uint32_t> parameter =
          findParameter(merge.parameter, of.parameters, model, diags);
      if (parameter && seen.try_emplace(*parameter, merge.loc).second)
        replacements.push_back({*parameter, merge.value.get(), symbol.unit, of.parameters});
    }
  };
  forEachWeights({declarations}, model, library, collect);
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
