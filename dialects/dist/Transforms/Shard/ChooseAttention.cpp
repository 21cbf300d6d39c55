// The pass --dist-choose-attention.

#include "dialects/dist/Analysis/AttentionTime.h"
#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/Programs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTCHOOSEATTENTION
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::getTensorType;
using ir::NamedTensorType;

namespace {

/// The time of a method for all attentions whose positions the axis shards, or why it is
/// impossible.
struct Candidate {
  AttentionMethod method;
  AttentionTime time;
  std::string obstacle = {};
};

class MethodChoice {
public:
  MethodChoice(const MeshView &mesh, size_t axis)
      : mesh(mesh), axis(axis), degree(mesh.getAxes()[axis].degree) {
    if (mesh.getAxes()[axis].isHeadTail)
      allToAll.obstacle = "positions are in head-tail order";
  }

  /// Adds the times of an attention, unless the axis shards something else of it.
  void add(ir::AttentionOp op);
  bool isEmpty() const { return numAttentions == 0; }

  /// The fastest method; of equally fast ones, the one that holds fewest bytes.
  const Candidate &getBest() const;
  /// "ring: 1.20 ms; gather: 1.85 ms; all_to_all: positions are in head-tail order"
  std::string describe() const;

private:
  int findDim(size_t axis, NamedTensorType type) const;
  double countShards(NamedTensorType type) const;
  double countBytes(Value value) const;
  int64_t countHeads(ir::AttentionOp op);

  const MeshView &mesh;
  size_t axis;
  int64_t degree;
  unsigned numAttentions = 0;
  Candidate gather{AttentionMethod::Gather, {}}, ring{AttentionMethod::Ring, {}},
      allToAll{AttentionMethod::AllToAll, {}};
};

} // namespace

/// The dimension of the type that an axis prefers; -1 for none.
int MethodChoice::findDim(size_t axis, NamedTensorType type) const {
  for (const std::string &name : mesh.getAxes()[axis].preference)
    for (auto [i, dim] : llvm::enumerate(type.getDims()))
      if (dim.getName() == name || (dim.getOrigin() && dim.getOrigin() == name &&
                                    !type.hasDim(StringAttr::get(type.getContext(), name))))
        return static_cast<int>(i);
  return -1;
}

/// The number of shards into which the other axes divide the tensor.
double MethodChoice::countShards(NamedTensorType type) const {
  double numShards = 1;
  for (size_t a = 0; a < mesh.getNumAxes(); ++a)
    if (a != axis && findDim(a, type) >= 0)
      numShards *= static_cast<double>(std::max<int64_t>(1, mesh.getAxes()[a].degree));
  return numShards;
}

double MethodChoice::countBytes(Value value) const {
  NamedTensorType type = getTensorType(value);
  double elements = 1;
  for (ir::DimAttr dim : type.getDims())
    elements *= static_cast<double>(dim.getSize());
  return elements * type.getElementType().getIntOrFloatBitWidth() / 8 / countShards(type);
}

/// The heads that the other axes leave to a rank, if any of them shards the heads.
int64_t MethodChoice::countHeads(ir::AttentionOp op) {
  ShardingRule rule = cast<ir::ShardingRuleOpInterface>(op.getOperation()).getShardingRule();
  if (!rule.attention || rule.attention->heads < 0)
    return 0;
  const Factor &heads = rule.factors[rule.attention->heads];
  int64_t numShards = 1;
  for (size_t a = 0; a < mesh.getNumAxes(); ++a)
    if (const AxisInfo &other = mesh.getAxes()[a];
        a != axis && (llvm::is_contained(other.preference, heads.name) ||
                      llvm::is_contained(other.preference, heads.origin)))
      numShards *= std::max<int64_t>(1, other.degree);
  return heads.size % numShards == 0 ? heads.size / numShards : 0;
}

void MethodChoice::add(ir::AttentionOp op) {
  NamedTensorType queries = op.getQuery().getType();
  if (findDim(axis, queries) != queries.findDimIndex(op.getAlongAttr()))
    return;
  ++numAttentions;
  const bool isUneven = op.getCausal() && !op.getWindow() && !mesh.getAxes()[axis].isHeadTail;
  const AttentionSizes sizes{
      2 * countBytes(op.getQuery()), countBytes(op.getKey()) + countBytes(op.getValue()),
      cast<ir::CostOpInterface>(op.getOperation()).getFlops({}) / countShards(queries),
      countHeads(op), isUneven ? 2 - 1 / static_cast<double>(degree) : 1};
  auto include = [](Candidate &candidate, AttentionTime time) {
    candidate.time.seconds += time.seconds;
    candidate.time.heldBytes = std::max(candidate.time.heldBytes, time.heldBytes);
  };
  include(gather, estimateGather(sizes, degree));
  include(ring, estimateRing(sizes, degree));
  include(allToAll, estimateAllToAll(sizes, degree));
  if (allToAll.obstacle.empty() && (sizes.heads == 0 || sizes.heads % degree != 0))
    allToAll.obstacle =
        llvm::formatv("{0} does not divide the {1} heads of a rank", degree, sizes.heads).str();
}

const Candidate &MethodChoice::getBest() const {
  const Candidate *best = &gather;
  for (const Candidate *candidate : {&ring, &allToAll}) {
    auto getCost = [](const Candidate &c) { return std::pair(c.time.seconds, c.time.heldBytes); };
    if (candidate->obstacle.empty() && getCost(*candidate) < getCost(*best))
      best = candidate;
  }
  return *best;
}

std::string MethodChoice::describe() const {
  SmallVector<std::string> times;
  for (const Candidate *candidate : {&gather, &ring, &allToAll}) {
    std::string text = candidate->obstacle;
    if (text.empty())
      text = llvm::formatv("{0:F3} ms", 1000 * candidate->time.seconds).str();
    times.push_back((stringifyAttentionMethod(candidate->method) + ": " + text).str());
  }
  return llvm::join(times, "; ");
}

namespace {

struct ChooseAttention : dist::impl::DistChooseAttentionBase<ChooseAttention> {
  void runOnOperation() override {
    auto isOpen = [](AxisRulesOp rules) { return rules.getAttention() == AttentionMethod::Auto; };
    if (llvm::none_of(getOperation().getOps<AxisRulesOp>(), isOpen))
      return;
    FailureOr<MeshView> mesh = MeshView::get(getOperation());
    if (failed(mesh))
      return signalPassFailure();
    // An axis of degree 1 has nothing to choose.
    for (AxisRulesOp rules : getOperation().getOps<AxisRulesOp>())
      if (isOpen(rules) && mesh->getIndex(rules.getAxisAttr()) < 0)
        rules.setAttention(AttentionMethod::Gather);
    for (size_t axis = 0; axis < mesh->getNumAxes(); ++axis)
      if (AxisRulesOp rules = mesh->getRules(axis); rules && isOpen(rules))
        choose(*mesh, axis, rules);
  }

private:
  void choose(const MeshView &mesh, size_t axis, AxisRulesOp rules) {
    MethodChoice choice(mesh, axis);
    for (func::FuncOp program : ir::getTrainPrograms(getOperation()))
      program.walk([&](ir::AttentionOp op) { choice.add(op); });
    rules.setAttention(choice.isEmpty() ? AttentionMethod::Gather : choice.getBest().method);
    if (choice.isEmpty())
      return;
    rules->setAttr(kAttentionTimesAttr, StringAttr::get(&getContext(), choice.describe()));
    TITAN_COUNT(chosenMethods, 1);
    TITAN_DEBUG("dist-choose-attention",
                llvm::errs() << rules.getAxis() << ": " << choice.describe() << '\n');
  }
};

} // namespace
