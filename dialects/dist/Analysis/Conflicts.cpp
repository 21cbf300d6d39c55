// Finds operations with conflicting shardings.

#include "dialects/dist/Analysis/Conflicts.h"
#include <algorithm>

using namespace titan::dist;

static AxisUse getUse(const FactorGraph &graph, const FactorNode &node, size_t axis) {
  AxisUse use;
  for (unsigned i : node.operands)
    use.operands.push_back(graph.tensors[i].dimOfAxis[axis]);
  for (unsigned i : node.results)
    use.results.push_back(graph.tensors[i].dimOfAxis[axis]);
  return use;
}

static Conflict describe(const FactorGraph &graph, const FactorNode &node, size_t axis,
                         const std::set<int> &factors, int chosen) {
  Conflict conflict{axis, static_cast<size_t>(&node - graph.nodes.data()), {}};
  const AxisInfo &info = graph.axes[axis];
  conflict.isDecidedByRules = false;
  for (int f : factors) {
    const Factor &factor = node.rule.factors[f];
    if (f == chosen)
      conflict.chosen = static_cast<int>(conflict.sides.size());
    conflict.sides.push_back({f, findOrigin(graph, node, axis, f)});
    conflict.isDecidedByRules |=
        getPreference(info, factor.name, factor.origin) < info.preference.size();
  }
  return conflict;
}

std::vector<Conflict> titan::dist::findConflicts(const FactorGraph &graph) {
  std::vector<Conflict> conflicts;
  for (const FactorNode &node : graph.nodes) {
    std::vector<int64_t> degrees(node.rule.factors.size(), 1);
    for (size_t a = 0; a < graph.axes.size(); ++a) {
      Assignment assignment =
          assignAxis(node.rule, getUse(graph, node, a), {}, graph.axes[a], degrees);
      bool splits = assignment.kind == Assignment::Split;
      if (splits)
        degrees[assignment.factor] *= std::max<int64_t>(1, graph.axes[a].degree);
      std::set<int> factors = findSplitFactors(graph, node, a);
      if (factors.size() > 1)
        conflicts.push_back(describe(graph, node, a, factors, splits ? assignment.factor : -1));
    }
  }
  return conflicts;
}
