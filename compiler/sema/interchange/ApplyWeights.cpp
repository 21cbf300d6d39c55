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

  void add(const StoredTensor &other) {
    for (const Layout *layout : other.layouts)
      add(*layout);
  }

  /// Whether some iteration has both the layout and one of the tensor: then both are in one file
  /// tensor. Parameters of different kinds of layers are in different ones of the same name.
  bool meets(const Layout &other) const {
    return std::any_of(layouts.begin(), layouts.end(), [&](const Layout *layout) {
      for (size_t i = 0; i < std::min(layout->iterations.size(), other.iterations.size()); ++i) {
        std::vector<int64_t> common;
        std::set_intersection(layout->iterations[i].begin(), layout->iterations[i].end(),
                              other.iterations[i].begin(), other.iterations[i].end(),
                              std::back_inserter(common));
        if (common.empty())
          return false;
      }
      return true;
    });
  }

  bool has(const Layout &layout) const {
    return std::find(layouts.begin(), layouts.end(), &layout) != layouts.end();
  }

  /// Reports elements that no parameter has, or several.
  bool check(const MapSizes &sizes, DiagnosticEngine &diags) const {
    const WeightsDecl::Entry &entry = *layouts.front()->entry;
    const std::string &name = layouts.front()->writtenTensor;
    std::optional<int64_t> all = 1;
    for (int64_t size : shape)
      if (all)
        all = sizes.multiply(*all, size, entry.loc);
    if (!all)
      return false;
    int64_t covered = 0;
    for (const Layout *layout : layouts)
      covered += layout->countElements();
    if (covered == *all && hasOneRank() && areDisjoint())
      return true;
    Diagnostic &diag =
        diags.report(Code::BadStoredDims, entry.loc,
                     covered == *all ? "parameters share elements of `" + name + "`"
                                     : "`" + name + "` has " + std::to_string(*all) +
                                           " elements, its parameters " + std::to_string(covered));
    for (size_t i = 1; i < layouts.size(); ++i)
      diag.note(layouts[i]->entry->loc, "another parameter of the tensor");
    diag.help("each element of a stored tensor belongs to one parameter");
    return false;
  }

  StoredParameter locate(const Layout &layout) const {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
    StoredParameter stored{layout.parameter, layout.tensor, shape, 0, {}, {}};
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
  bool hasOneRank() const {
    return std::all_of(layouts.begin(), layouts.end(),
                       [&](const Layout *layout) { return layout->dims.size() == shape.size(); });
  }

  /// The indices of the parameter along stored dimension `d`.
  std::vector<bool> indicesAlong(const Layout &layout, size_t d) const {
    std::vector<int64_t> indices{layout.dims[d].from + layout.dims[d].first};
    for (const Factor &factor : layout.factors) {
      if (factor.storedDim != static_cast<int>(d))
        continue;
      const size_t count = indices.size();
      for (int64_t i = 1; i < factor.size; ++i)
        for (size_t j = 0; j < count; ++j)
          indices.push_back(indices[j] + i * factor.strideInDim);
    }
    std::vector<bool> isUsed(static_cast<size_t>(shape[d]));
    for (int64_t index : indices)
      isUsed[static_cast<size_t>(index)] = true;
    return isUsed;
  }

  /// A factor belongs to one stored dimension, so two parameters overlap exactly if they
  /// have a common index along each dimension.
  bool overlap(const Layout &a, const Layout &b) const {
    for (size_t d = 0; d < shape.size(); ++d) {
      const std::vector<bool> left = indicesAlong(a, d), right = indicesAlong(b, d);
      bool isCommon = false;
      for (size_t i = 0; i < left.size() && !isCommon; ++i)
        isCommon = left[i] && right[i];
      if (!isCommon)
        return false;
    }
    return true;
  }

  bool areDisjoint() const {
    for (size_t i = 0; i < layouts.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (overlap(*layouts[i], *layouts[j]))
          return false;
    return true;
  }

  std::vector<const Layout *> layouts;
  std::vector<int64_t> shape;
};

/// The entries by parameter. The first declaration with entries for a parameter supplies them.
/// Several entries of one parameter are for its variants.
class Entries {
public:
  Entries(const std::vector<AppliedWeights> &weights, const Model &model, const Library &library,
          DiagnosticEngine &diags)
      : diags(diags) {
    auto addEntries = [&](const AppliedWeights &applied, const Symbol &symbol) {
      LayoutReader &reader =
          readers
              .try_emplace({applied.declarations.front().decl, applied.parameters}, model, applied,
                           library, diags)
              .first->second;
      std::map<std::string, ParameterEntries> ofDeclaration;
      for (const WeightsDecl::Entry &entry : symbol.decl->as<WeightsDecl>()->entries) {
        ParameterEntries &found = ofDeclaration[applied.parameters + entry.parameter.text()];
        found.reader = &reader;
        found.entries.push_back(&entry);
      }
      byParameter.merge(ofDeclaration);
    };
    forEachWeights(weights, model, library, addEntries);
  }

  bool has(const Parameter &parameter) const { return byParameter.count(parameter.name); }
  /// Reads the entry of a parameter and removes it. Nothing after a report.
  std::optional<Layout> take(const Parameter &parameter) {
    const ParameterEntries taken = byParameter.extract(parameter.name).mapped();
    const WeightsDecl::Entry *entry = choose(taken, parameter);
    return entry ? taken.reader->read(*entry, parameter) : std::nullopt;
  }
  /// The names of the remaining parameters: of other variants of the model, or misspelled.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto &[name, entries] : byParameter)
      all.push_back(name);
    return all;
  }

private:
  struct ParameterEntries {
    LayoutReader *reader;
    std::vector<const WeightsDecl::Entry *> entries;
  };

  /// The only entry, or the one with the dimensions of the parameter. Reports none, and several.
  const WeightsDecl::Entry *choose(const ParameterEntries &candidates,
                                   const Parameter &parameter) const {
    if (candidates.entries.size() == 1)
      return candidates.entries.front();
    const WeightsDecl::Entry *chosen = nullptr;
    for (const WeightsDecl::Entry *entry : candidates.entries) {
      if (!candidates.reader->fits(*entry, parameter))
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
          .report(Code::BadStoredDims, candidates.entries.front()->loc,
                  "no entry has the dimensions of `" + parameter.name + "`")
          .note(parameter.loc, "declared here");
    return chosen;
  }

  DiagnosticEngine &diags;
  std::map<std::pair<const Decl *, std::string>, LayoutReader> readers;
  std::map<std::string, ParameterEntries> byParameter;
};

/// The entries and components of declarations for parameters that the model lacks.
struct Unmatched {
  std::vector<std::string> entries;
  std::vector<const WeightsDecl::Component *> components;
};

void reportMissing(const Parameter &parameter, const WeightsDecl &decl, const Unmatched &unmatched,
                   DiagnosticEngine &diags) {
  Diagnostic &diag = diags.report(Code::NoStoredTensor, parameter.loc,
                                  "the weights \"" + decl.format.text + "\" have no tensor for `" +
                                      parameter.name + "`");
  diag.note(decl.model.loc, "the declaration is here");
  for (const WeightsDecl::Component *component : unmatched.components)
    diag.note(component->loc, "the model has no component `" + component->parameters.text() + "`");
  if (std::string near = nearestName(parameter.name, unmatched.entries); !near.empty())
    diag.help("the entry `" + near + "` has no parameter");
}

} // namespace

/// The map with its copies and unused patterns, and without parameters.
static WeightMap readLists(const std::vector<AppliedWeights> &weights, const Model &model,
                           const Library &library) {
  WeightMap map{
      weights.front().declarations.front().decl->as<WeightsDecl>()->format.text, {}, {}, {}};
  forEachWeights(weights, model, library, [&](const AppliedWeights &applied, const Symbol &symbol) {
    const WeightsDecl &decl = *symbol.decl->as<WeightsDecl>();
    for (const WeightsDecl::Copy &copy : decl.copies) {
      const std::string name = applied.tensors + copy.tensor.text;
      const bool isOverridden = std::any_of(map.copies.begin(), map.copies.end(),
                                            [&](const auto &known) { return known.first == name; });
      if (!isOverridden)
        map.copies.emplace_back(name, applied.tensors + copy.original.text);
    }
    for (const Name &pattern : decl.unused)
      map.unused.push_back(applied.tensors + pattern.text);
  });
  return map;
}

/// The layouts of all parameters with an entry. Warns of the others, unless they are merged.
static std::vector<Layout> readLayouts(const std::vector<AppliedWeights> &weights,
                                       const Model &model, const std::set<std::string> &merged,
                                       const Library &library, DiagnosticEngine &diags) {
  Entries entries(weights, model, library, diags);
  std::vector<Layout> layouts;
  std::vector<const Parameter *> missing;
  for (const Parameter &parameter : model.parameters)
    if (!entries.has(parameter))
      missing.push_back(&parameter);
    else if (std::optional<Layout> layout = entries.take(parameter))
      layouts.push_back(std::move(*layout));
  const Unmatched unmatched{entries.names(), findUnmatchedComponents(weights.front(), model)};
  for (const Parameter *parameter : missing)
    if (parameter->initFrom != "optional" && !merged.count(parameter->name))
      reportMissing(*parameter, *weights.front().declarations.front().decl->as<WeightsDecl>(),
                    unmatched, diags);
  return layouts;
}

/// Adds the layout to the tensor that it meets; tensors that it joins become one.
static void addLayout(const Layout &layout, std::vector<StoredTensor> &tensors) {
  StoredTensor joined;
  std::vector<StoredTensor> others;
  for (const StoredTensor &tensor : tensors)
    if (tensor.meets(layout))
      joined.add(tensor);
    else
      others.push_back(tensor);
  joined.add(layout);
  others.push_back(std::move(joined));
  tensors = std::move(others);
}

/// Adds the tensors of the original as an alternative for its copy.
static void addOriginal(const Parameter &copy, WeightMap &map) {
  const std::string original = copy.getOriginalName();
  const auto found = std::find_if(map.parameters.begin(), map.parameters.end(),
                                  [&](const auto &each) { return each.parameter == original; });
  if (found == map.parameters.end())
    return;
  StoredParameter alternative = *found;
  alternative.parameter = copy.name;
  map.parameters.push_back(std::move(alternative));
}

std::optional<WeightMap> applyWeights(const std::vector<AppliedWeights> &weights,
                                      const Model &model, const std::set<std::string> &merged,
                                      const Library &library, DiagnosticEngine &diags) {
  const size_t errorsBefore = diags.errorReports();
  const MapSizes sizes(model, "", library, *weights.front().declarations.front().unit, diags);
  const std::vector<Layout> layouts = readLayouts(weights, model, merged, library, diags);
  std::map<std::string, std::vector<StoredTensor>> tensors; // of one name in different iterations
  for (const Layout &layout : layouts)
    addLayout(layout, tensors[layout.tensor]);
  for (const auto &[name, ofName] : tensors)
    for (const StoredTensor &tensor : ofName)
      tensor.check(sizes, diags);
  if (diags.errorReports() != errorsBefore)
    return std::nullopt;
  WeightMap map = readLists(weights, model, library);
  for (const Layout &layout : layouts)
    for (const StoredTensor &tensor : tensors[layout.tensor])
      if (tensor.has(layout))
        map.parameters.push_back(tensor.locate(layout));
  for (const std::string &name : merged)
    if (std::none_of(map.parameters.begin(), map.parameters.end(),
                     [&](const StoredParameter &each) { return each.parameter == name; }))
      map.merged.push_back(name);
  for (const Parameter &parameter : model.parameters) {
    if (parameter.initFrom == "copy")
      addOriginal(parameter, map);
    if (!parameter.isExported)
      map.merged.push_back(parameter.name);
  }
  return map;
}

} // namespace titan::sema
