// Reports conflicts of shardings.

#include "dialects/dist/Transforms/Shard/ConflictReport.h"
#include "dialects/dist/Analysis/Conflicts.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace titan;
using namespace titan::dist;

static const Factor &getFactor(const FactorGraph &graph, const Conflict &conflict,
                               const ConflictSide &side) {
  return graph.nodes[conflict.node].rule.factors[side.factor];
}

static std::string getSides(const ConflictUse &use) {
  std::string sides;
  for (const WantedSplit &split : use.rejected)
    sides += (sides.empty() ? "" : " nor ") + split.dim + " of " + split.origin.print();
  return sides;
}

std::string ConflictUse::print() const {
  std::string decision =
      chosen ? chosen->dim + " of " + chosen->origin.print() + ", not " : "neither ";
  return axis + "  " + decision + getSides(*this) + "; " + operation.print();
}

static ConflictUse describe(const PartitionGraph &graph, const Conflict &conflict) {
  const FactorGraph &plain = graph.getGraph();
  ConflictUse use;
  use.axis = plain.axes[conflict.axis].name;
  use.operation = getSourceValue(graph.getOperation(conflict.node)->getLoc());
  for (auto [i, side] : llvm::enumerate(conflict.sides)) {
    WantedSplit split{getFactor(plain, conflict, side).name,
                      getSourceValue(graph.getValue(side.origin).getLoc())};
    if (static_cast<int>(i) == conflict.chosen)
      use.chosen = std::move(split);
    else
      use.rejected.push_back(std::move(split));
  }
  return use;
}

/// A key that is equal for conflicts that the report lists once.
static std::string getKey(const ConflictUse &use) {
  std::set<std::string> dims;
  for (const WantedSplit &split : use.rejected)
    dims.insert(split.dim);
  if (use.chosen)
    dims.insert(use.chosen->dim);
  return use.axis + " " + use.operation.file + ":" + std::to_string(use.operation.line) + " " +
         llvm::join(dims, " ");
}

std::vector<ConflictUse> dist::reportConflicts(const PartitionGraph &graph) {
  std::vector<ConflictUse> uses;
  std::set<std::string> seen;
  for (const Conflict &conflict : findConflicts(graph.getGraph()))
    if (ConflictUse use = describe(graph, conflict); seen.insert(getKey(use)).second)
      uses.push_back(std::move(use));
  return uses;
}

FailureOr<std::vector<ConflictUse>> dist::reportConflicts(func::FuncOp function,
                                                          const MeshView &mesh) {
  copyTables(function);
  PartitionGraph graph(mesh);
  if (failed(graph.addBlock(function.getBody().front())))
    return failure();
  graph.propagate();
  return reportConflicts(graph);
}

static void warn(const PartitionGraph &graph, const Conflict &conflict, const ConflictUse &use) {
  InFlightDiagnostic warning = graph.getOperation(conflict.node)->emitWarning();
  warning << "`" << use.axis << "` splits ";
  if (use.chosen)
    warning << "`" << use.chosen->dim << "` here, not ";
  else
    warning << "neither ";
  for (auto [i, split] : llvm::enumerate(use.rejected))
    warning << (i ? " nor `" : "`") << split.dim << "`";
  warning << ": its map lists none of them, so their priority is unknown";
  for (const ConflictSide &side : conflict.sides)
    warning.attachNote(graph.getValue(side.origin).getLoc())
        << "`" << getFactor(graph.getGraph(), conflict, side).name << "` is split here";
}

void dist::warnOfUndecided(const PartitionGraph &graph) {
  std::set<std::string> seen;
  for (const Conflict &conflict : findConflicts(graph.getGraph())) {
    if (conflict.isDecidedByRules)
      continue;
    if (ConflictUse use = describe(graph, conflict); seen.insert(getKey(use)).second)
      warn(graph, conflict, use);
  }
}
