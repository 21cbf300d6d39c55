// Propagates shardings by factors.

#include "dialects/dist/Analysis/FactorPropagation.h"
#include <algorithm>

using namespace titan::dist;

int64_t titan::dist::getDegree(const FactorGraph &graph, const FactorTensor &tensor, int dim) {
  int64_t degree = 1;
  for (size_t a = 0; a < graph.axes.size(); ++a)
    if (tensor.dimOfAxis[a] == dim)
      degree *= std::max<int64_t>(graph.axes[a].degree, 1);
  return degree;
}

std::set<int> titan::dist::findSplitFactors(const FactorGraph &graph, const FactorNode &node,
                                            size_t axis) {
  std::set<int> factors;
  auto add = [&](int f) {
    if (f >= 0 && node.rule.factors[f].kind != FactorKind::Replicated)
      factors.insert(f);
  };
  for (size_t i = 0; i < node.operands.size(); ++i)
    add(findOperandFactor(node.rule, i, graph.tensors[node.operands[i]].dimOfAxis[axis]));
  for (size_t i = 0; i < node.results.size(); ++i)
    add(findResultFactor(node.rule, i, graph.tensors[node.results[i]].dimOfAxis[axis]));
  return factors;
}

int titan::dist::findOrigin(const FactorGraph &graph, const FactorNode &node, size_t axis,
                            int factor) {
  for (size_t i = 0; i < node.operands.size(); ++i)
    if (const FactorTensor &tensor = graph.tensors[node.operands[i]];
        findOperandFactor(node.rule, i, tensor.dimOfAxis[axis]) == factor)
      return tensor.origins[axis];
  for (size_t i = 0; i < node.results.size(); ++i)
    if (const FactorTensor &tensor = graph.tensors[node.results[i]];
        findResultFactor(node.rule, i, tensor.dimOfAxis[axis]) == factor)
      return tensor.origins[axis];
  return -1;
}

namespace {

enum class Direction { Forward, Backward };

class Propagation {
public:
  explicit Propagation(FactorGraph &graph) : graph(graph) {}

  void run() {
    for (size_t t = 0; t < graph.tensors.size(); ++t)
      for (int dim : graph.tensors[t].dimOfAxis)
        graph.tensors[t].origins.push_back(dim == kReplicated ? -1 : static_cast<int>(t));
    for (bool preferred : {true, false}) {
      onlyPreferred = preferred;
      do
        spreadAgreed();
      while (resolveOneConflict());
    }
  }

private:
  /// Propagates factors on which all tensors of a node agree, to a fixpoint.
  void spreadAgreed() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (FactorNode &node : graph.nodes)
        changed |= follow(node, Direction::Forward);
      for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node)
        changed |= follow(*node, Direction::Backward);
    }
  }

  bool follow(FactorNode &node, Direction direction) {
    bool changed = false;
    for (size_t a = 0; a < graph.axes.size(); ++a) {
      std::set<int> factors = findSplitFactors(graph, node, a);
      if (factors.size() == 1)
        changed |= spread(node, a, *factors.begin(), direction);
      if (factors.empty() && node.rule.isElementwise)
        changed |= direction == Direction::Forward ? spreadFlat(node.operands, node.results, a)
                                                   : spreadFlat(node.results, node.operands, a);
    }
    return changed;
  }

  /// Shards `factor` in the results (forward) or operands (backward) that have it.
  bool spread(FactorNode &node, size_t a, int factor, Direction direction) {
    bool changed = false;
    const Factor &f = node.rule.factors[factor];
    const auto &dims = direction == Direction::Forward ? f.resultDims : f.operandDims;
    const auto &tensors = direction == Direction::Forward ? node.results : node.operands;
    int origin = findOrigin(graph, node, a, factor);
    for (size_t i = 0; i < tensors.size(); ++i)
      changed |= split(graph.tensors[tensors[i]], a, dims[i], f.size, origin);
    return changed;
  }

  bool split(FactorTensor &tensor, size_t a, int dim, int64_t size, int origin) {
    if (dim < 0 || tensor.fixed || tensor.dimOfAxis[a] != kReplicated ||
        !canSplit(size, getDegree(graph, tensor, dim), graph.axes[a]) ||
        (onlyPreferred && hasBetterDim(tensor, a, dim)))
      return false;
    tensor.dimOfAxis[a] = dim;
    tensor.origins[a] = origin;
    return true;
  }

  bool hasBetterDim(const FactorTensor &tensor, size_t a, int dim) const {
    const AxisInfo &axis = graph.axes[a];
    auto preference = [&](const FactorDim &d) { return getPreference(axis, d.name, d.origin); };
    for (size_t d = 0; d < tensor.dims.size(); ++d)
      if (preference(tensor.dims[d]) < preference(tensor.dims[dim]) &&
          canSplit(tensor.dims[d].size, getDegree(graph, tensor, static_cast<int>(d)), axis))
        return true;
    return false;
  }

  /// Propagates flat storage through an elementwise operation: if all non-scalar tensors of `from`
  /// are flat from the same dimension, so are those of `to`.
  bool spreadFlat(const std::vector<unsigned> &from, const std::vector<unsigned> &to, size_t a) {
    int flatFrom = -1, origin = -1;
    for (unsigned i : from) {
      const FactorTensor &tensor = graph.tensors[i];
      if (tensor.dims.empty())
        continue;
      if (tensor.dimOfAxis[a] != kFlat || (flatFrom >= 0 && flatFrom != tensor.flatFrom))
        return false;
      flatFrom = tensor.flatFrom;
      origin = tensor.origins[a];
    }
    bool changed = false;
    for (unsigned i : to) {
      FactorTensor &tensor = graph.tensors[i];
      if (flatFrom < 0 || tensor.dims.empty() || tensor.fixed || tensor.dimOfAxis[a] != kReplicated)
        continue;
      tensor.dimOfAxis[a] = kFlat;
      tensor.origins[a] = origin;
      tensor.flatFrom = flatFrom;
      changed = true;
    }
    return changed;
  }

  /// Resolves the first conflict whose preferred factor shards another tensor. False if there is
  /// none.
  bool resolveOneConflict() {
    for (FactorNode &node : graph.nodes)
      for (size_t a = 0; a < graph.axes.size(); ++a) {
        std::set<int> factors = findSplitFactors(graph, node, a);
        if (factors.size() < 2)
          continue;
        int best = *std::min_element(factors.begin(), factors.end(), [&](int x, int y) {
          const Factor &one = node.rule.factors[x], &other = node.rule.factors[y];
          return getPreference(graph.axes[a], one.name, one.origin) <
                 getPreference(graph.axes[a], other.name, other.origin);
        });
        bool forward = spread(node, a, best, Direction::Forward);
        if (spread(node, a, best, Direction::Backward) || forward)
          return true;
      }
    return false;
  }

  FactorGraph &graph;
  bool onlyPreferred = true;
};

} // namespace

void titan::dist::propagateFactors(FactorGraph &graph) {
  Propagation(graph).run();
}
