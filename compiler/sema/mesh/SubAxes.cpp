// Splits an axis that is larger than a dimension that it shards. The axis becomes two: the first
// covers that dimension, the second shards another dimension of the list. Both shard all other
// dimensions of the axis, so tensors with neither dimension are sharded as by one axis. If another
// dimension takes the whole degree, and a rank then stores no more, the axis stays one.
#include "compiler/sema/mesh/Mesh.h"

#include <algorithm>
#include <numeric>

namespace titan::sema {
namespace {

class Splitter {
public:
  explicit Splitter(const Model &model) : model(model) {
    for (const Parameter &parameter : model.parameters) {
      tensors.push_back({parameter.type.dims, 1});
      for (DimId id : parameter.repeats)
        tensors.back().copies *= static_cast<double>(model.dims[id].size);
    }
    for (const Input &input : model.inputs)
      tensors.push_back({input.type.dims, 1});
    addConstraints(model.body);
  }

  /// The axis as two, or nothing if that is unnecessary or impossible.
  std::optional<std::pair<Axis, Axis>> split(const Axis &axis) const {
    for (const std::string &first : axis.splits) {
      if (getSize(first) <= 1 || takesWhole(axis, first))
        continue;
      const std::optional<Choice> best = choose(axis, first);
      if (!best)
        return std::nullopt;
      if (best->outer > 1)
        return std::pair(subAxis(axis, best->outer, first, best->second),
                         subAxis(axis, axis.degree / best->outer, best->second, first));
    }
    return std::nullopt;
  }

private:
  void addConstraints(const Region &region) {
    for (const Op &op : region.ops) {
      if (op.kind == OpKind::ShardingConstraint)
        tensors.push_back({model.values[op.results[0]].type.dims, 1});
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

  bool takesWhole(const Axis &axis, const std::string &name) const {
    const int64_t size = getSize(name);
    return size > 1 && (size % axis.degree == 0 || isPadded({axis}, name));
  }

  /// A way to shard tensors with a dimension that is smaller than the axis: it takes `outer` of the
  /// degree (1: nothing) and `second` takes the rest.
  struct Choice {
    int64_t outer;
    std::string second;
    double stored; ///< elements of a rank
  };

  /// The choice by which a rank stores least; of equal ones, that of the order in the list.
  std::optional<Choice> choose(const Axis &axis, const std::string &first) const {
    const int64_t outer = std::gcd(getSize(first), axis.degree), inner = axis.degree / outer;
    std::optional<Choice> best;
    auto offer = [&](int64_t ofFirst, const std::string &second) {
      Choice choice{ofFirst, second, countStored(first, ofFirst, second, axis.degree / ofFirst)};
      if (!best || choice.stored < best->stored)
        best = choice;
    };
    bool isBehind = false; // whether `first` precedes `second`
    for (const std::string &second : axis.splits) {
      isBehind |= second == first;
      if (second == first || !occurTogether(first, second))
        continue;
      const bool isDivisible = outer > 1 && getSize(second) % inner == 0;
      if (isDivisible && isBehind)
        offer(outer, second);
      if (takesWhole(axis, second))
        offer(1, second);
      if (isDivisible && !isBehind)
        offer(outer, second);
    }
    return best;
  }

  /// The elements of a rank if only these dimensions are divided.
  double countStored(const std::string &first, int64_t outer, const std::string &second,
                     int64_t inner) const {
    double stored = 0;
    for (const Tensor &tensor : tensors) {
      double elements = tensor.copies;
      for (DimId id : tensor.dims)
        elements *= static_cast<double>(model.dims[id].size);
      elements /= has(tensor.dims, first) ? static_cast<double>(outer) : 1;
      stored += elements / (has(tensor.dims, second) ? static_cast<double>(inner) : 1);
    }
    return stored;
  }

  bool has(const DimSet &dims, const std::string &name) const {
    return std::any_of(dims.begin(), dims.end(),
                       [&](DimId id) { return model.dims[id].name == name; });
  }

  bool occurTogether(const std::string &a, const std::string &b) const {
    return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor &tensor) {
      return has(tensor.dims, a) && has(tensor.dims, b);
    });
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

  struct Tensor {
    DimSet dims;
    double copies; ///< the iterations of the repeats of a parameter
  };

  const Model &model;
  std::vector<Tensor> tensors;
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
