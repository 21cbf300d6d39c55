#include "compiler/sema/interchange/ApplyWeights.h"
#include "compiler/sema/interchange/StoredLayout.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

/// A stored tensor with the layouts of all parameters in it, which determine its shape.
class StoredTensor {
public:
  void add(const Layout &layout) {
    layouts.push_back(&layout);
    shape.resize(std::max(shape.size(), layout.dims.size()), 1);
    for (size_t d = 0; d < layout.dims.size(); ++d)
      shape[d] = std::max(shape[d], layout.dims[d].from + layout.dims[d].extent);
  }

  /// Reports elements that no parameter has, or several.
  bool check(DiagnosticEngine &diags) const {
    int64_t all = 1, covered = 0;
    for (int64_t size : shape)
      all *= size;
    bool isOneRank = true;
    for (const Layout *layout : layouts) {
      covered += layout->countElements();
      isOneRank &= layout->dims.size() == shape.size();
    }
    if (isOneRank && covered == all)
      return true;
    const WeightsDecl::Entry &entry = *layouts.front()->entry;
    diags
        .report(Code::BadStoredDims, entry.loc,
                "`" + entry.tensor.text + "` has " + std::to_string(all) +
                    " elements, its parameters " + std::to_string(covered))
        .help("each element of a stored tensor belongs to one parameter");
    return false;
  }

  StoredParameter locate(const Layout &layout) const {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
    StoredParameter stored{layout.entry->parameter.text(), layout.tensor, shape, 0, {}, {}};
    for (size_t d = 0; d < layout.dims.size(); ++d)
      stored.start += (layout.dims[d].from + layout.dims[d].first) * strides[d];
    for (const Factor &factor : layout.factors) {
      stored.sizes.push_back(factor.size);
      stored.strides.push_back(factor.isInName ? 0
                                               : factor.strideInDim * strides[factor.storedDim]);
    }
    return stored;
  }

private:
  std::vector<const Layout *> layouts;
  std::vector<int64_t> shape;
};

using Entries = std::map<std::string, std::vector<const WeightsDecl::Entry *>>;

/// The entries of all declarations, by parameter: those of the first declaration that has some.
/// Several are for variants of the parameter.
Entries entriesOf(const std::vector<Symbol> &declarations) {
  Entries entries;
  for (const Symbol &symbol : declarations) {
    Entries own;
    for (const WeightsDecl::Entry &entry : symbol.decl->as<WeightsDecl>()->entries)
      own[entry.parameter.text()].push_back(&entry);
    entries.merge(own);
  }
  return entries;
}

/// The only entry, or the one with the dimensions of the parameter. Reports none, and several.
const WeightsDecl::Entry *choose(const std::vector<const WeightsDecl::Entry *> &entries,
                                 const LayoutReader &reader, const Parameter &parameter,
                                 DiagnosticEngine &diags) {
  if (entries.size() == 1)
    return entries.front();
  const WeightsDecl::Entry *chosen = nullptr;
  for (const WeightsDecl::Entry *entry : entries) {
    if (!reader.fits(*entry, parameter))
      continue;
    if (chosen) {
      diags.report(Code::Redeclared, entry->parameter.loc, "this parameter has two entries")
          .note(chosen->loc, "the first one is here");
      return nullptr;
    }
    chosen = entry;
  }
  if (!chosen)
    diags
        .report(Code::BadStoredDims, entries.front()->loc,
                "no entry has the dimensions of `" + parameter.name + "`")
        .note(parameter.loc, "declared here");
  return chosen;
}

void reportMissing(const Parameter &parameter, const WeightsDecl &decl,
                   const std::vector<std::string> &idle, DiagnosticEngine &diags) {
  Diagnostic &diag = diags.report(Code::NoStoredTensor, parameter.loc,
                                  "the weights \"" + decl.format.text + "\" have no tensor for `" +
                                      parameter.name + "`");
  diag.note(decl.model.loc, "the declaration is here");
  if (std::string near = nearestName(parameter.name, idle); !near.empty())
    diag.help("the entry `" + near + "` has no parameter");
}

} // namespace

std::optional<WeightMap> applyWeights(const std::vector<Symbol> &declarations, const Model &model,
                                      DiagnosticEngine &diags) {
  const size_t errorsBefore = diags.errorReports();
  const WeightsDecl &first = *declarations.front().decl->as<WeightsDecl>();
  WeightMap map{first.format.text, {}, {}, {}};
  LayoutReader::Splits splits;
  for (const Symbol &symbol : declarations) {
    const WeightsDecl &decl = *symbol.decl->as<WeightsDecl>();
    for (const WeightsDecl::Split &split : decl.splits)
      splits.push_back(&split);
    for (const WeightsDecl::Copy &copy : decl.copies)
      map.copies.emplace_back(copy.tensor.text, copy.original.text);
    for (const Name &pattern : decl.unused)
      map.unused.push_back(pattern.text);
  }
  Entries entries = entriesOf(declarations);
  LayoutReader reader(model, splits, diags);
  std::vector<Layout> layouts;
  std::vector<const Parameter *> missing;
  for (const Parameter &parameter : model.parameters) {
    const auto own = entries.find(parameter.name);
    if (own == entries.end()) {
      missing.push_back(&parameter);
      continue;
    }
    const auto all = entries.extract(own).mapped();
    if (const WeightsDecl::Entry *entry = choose(all, reader, parameter, diags))
      if (std::optional<Layout> layout = reader.read(*entry, parameter))
        layouts.push_back(std::move(*layout));
  }
  std::vector<std::string> idle; // of other variants of the model, or misspelled
  for (const auto &[name, all] : entries)
    idle.push_back(name);
  for (const Parameter *parameter : missing)
    if (!parameter->isOptional)
      reportMissing(*parameter, first, idle, diags);
  std::map<std::string, StoredTensor> tensors;
  for (const Layout &layout : layouts)
    tensors[layout.tensor].add(layout);
  for (const auto &[name, tensor] : tensors)
    tensor.check(diags);
  for (const Layout &layout : layouts)
    map.parameters.push_back(tensors[layout.tensor].locate(layout));
  if (diags.errorReports() != errorsBefore)
    return std::nullopt;
  return map;
}

} // namespace titan::sema
