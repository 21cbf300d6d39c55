// Splits an axis that is larger than the first dimension that it shards. The axis becomes two: the
// first covers that dimension, the second shards the next dimension of the list. Both shard all
// other dimensions of the axis, so tensors with neither dimension are sharded as by one axis.
#include "compiler/sema/mesh/Mesh.h"

#include <algorithm>
#include <numeric>

namespace titan::sema {
namespace {

class Splitter {
public:
  explicit Splitter(const Model &model) : model(model) {
    for (const Parameter &parameter : model.parameters)
      tensors.push_back(parameter.type.dims);
    for (const Input &input : model.inputs)
      tensors.push_back(input.type.dims);
    addConstraints(model.body);
  }

  /// The axis as two, or nothing if that is unnecessary or impossible.
  std::optional<std::pair<Axis, Axis>> split(const Axis &axis) const {
    for (const std::string &first : axis.splits) {
      int64_t size = getSize(first);
      if (size <= 1 || size % axis.degree == 0 || isPadded({axis}, first))
        continue;
      int64_t outer = std::gcd(size, axis.degree), inner = axis.degree / outer;
      auto second = std::find_if(axis.splits.begin(), axis.splits.end(), [&](const auto &name) {
        return name != first && occurTogether(first, name);
      });
      if (outer > 1 && second != axis.splits.end() && getSize(*second) % inner == 0)
        return std::pair(subAxis(axis, outer, first, *second),
                         subAxis(axis, inner, *second, first));
      return std::nullopt;
    }
    return std::nullopt;
  }

private:
  void addConstraints(const Region &region) {
    for (const Op &op : region.ops) {
      if (op.kind == OpKind::ShardingConstraint)
        tensors.push_back(model.values[op.results[0]].type.dims);
      for (const Region &body : op.body)
        addConstraints(body);
    }
  }

  int64_t getSize(const std::string &name) const {
    for (DimId id = 0; id < model.dims.size(); ++id)
      if (model.dims[id].name == name)
        return model.dims[id].size;
    return 1;
  }

  bool occurTogether(const std::string &a, const std::string &b) const {
    auto has = [&](const DimSet &dims, const std::string &name) {
      return std::any_of(dims.begin(), dims.end(),
                         [&](DimId id) { return model.dims[id].name == name; });
    };
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const DimSet &dims) { return has(dims, a) && has(dims, b); });
  }

  /// The sub-axis of `axis` for `own`, which keeps all dimensions except `other`.
  static Axis subAxis(const Axis &axis, int64_t degree, const std::string &own,
                      const std::string &other) {
    Axis result = axis;
    result.name = axis.name + "." + own;
    result.degree = degree;
    auto at = std::find(result.splits.begin(), result.splits.end(), other);
    result.splitLocs.erase(result.splitLocs.begin() + (at - result.splits.begin()));
    result.splits.erase(at);
    return result;
  }

  const Model &model;
  std::vector<DimSet> tensors;
};

/// The dimension that `axis` splits and the other sub-axis does not.
std::string findOwnSplit(const Axis &axis, const Axis &other) {
  for (const std::string &name : axis.splits)
    if (std::find(other.splits.begin(), other.splits.end(), name) == other.splits.end())
      return name;
  return "";
}

/// The override of the original axis, for one of its sub-axes.
MeshOverride makeOverride(const MeshOverride &original, const Axis &subAxis, const Axis &other) {
  MeshOverride made = original;
  made.axis = subAxis.name;
  std::string own = findOwnSplit(subAxis, other);
  if (!original.splits ||
      std::find(original.splits->begin(), original.splits->end(), own) == original.splits->end())
    return made;
  made.splits->clear();
  made.splitLocs.clear();
  for (size_t i = 0; i < original.splits->size(); ++i)
    if ((*original.splits)[i] != findOwnSplit(other, subAxis)) {
      made.splits->push_back((*original.splits)[i]);
      made.splitLocs.push_back(original.splitLocs[i]);
    }
  return made;
}

void splitOverrides(Mesh &mesh, const std::string &axis, const Axis &first, const Axis &second) {
  std::vector<MeshOverride> all;
  for (MeshOverride &entry : mesh.overrides) {
    if (entry.axis != axis) {
      all.push_back(std::move(entry));
      continue;
    }
    all.push_back(makeOverride(entry, first, second));
    all.push_back(makeOverride(entry, second, first));
  }
  mesh.overrides = std::move(all);
}

} // namespace

void splitAxes(Mesh &mesh, const Model &model) {
  Splitter splitter(model);
  mesh.declared = mesh.axes;
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    while (auto halves = mesh.axes[i].degree > 1 ? splitter.split(mesh.axes[i]) : std::nullopt) {
      splitOverrides(mesh, mesh.axes[i].name, halves->first, halves->second);
      mesh.axes[i] = std::move(halves->first);
      mesh.axes.insert(mesh.axes.begin() + i + 1, std::move(halves->second));
    }
}

} // namespace titan::sema
