// Enumerates the shardings of an operation.

#include "tests/ops/Shardings.h"

#include <optional>

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using dist::FactorKind;
using dist::ReductionKind;
using dist::ShardingByAxis;

namespace {

/// A depth-first search over the axes of the mesh, with one choice per axis.
class Enumeration {
public:
  Enumeration(const Case &c, const dist::ShardingRule &rule, const dist::MeshView &mesh)
      : c(c), rule(rule), mesh(mesh), operands(c.operands.size(), mesh.getReplicated()),
        results(c.results.size(), mesh.getReplicated()), degrees(rule.factors.size(), 1) {}

  std::vector<OpSharding> run() {
    visit(0);
    return std::move(found);
  }

private:
  /// Chooses for axis `a` and all later axes.
  void visit(size_t a) {
    if (a == mesh.getNumAxes()) {
      found.push_back(makeSharding());
      return;
    }
    visit(a + 1);
    for (size_t f = 0; f < rule.factors.size(); ++f)
      shardFactor(a, f);
    for (const std::vector<unsigned> &set : rule.linearSets)
      passPartialSums(a, set);
    if (rule.isElementwise || rule.contractsFlat)
      for (int from = 0; from < getFlatRank(); ++from)
        shardFlat(a, from);
  }

  /// Visits the next axis, then undoes the choice for axis `a`.
  void visitNextAxis(size_t a) {
    visit(a + 1);
    for (ShardingByAxis &byAxis : llvm::concat<ShardingByAxis>(operands, results))
      byAxis.dimOfAxis[a] = dist::kReplicated;
  }

  /// Shards factor `f` by axis `a`, if the rule allows it.
  void shardFactor(size_t a, size_t f) {
    const dist::Factor &factor = rule.factors[f];
    int64_t degree = mesh.getAxes()[a].degree;
    if (factor.kind == FactorKind::Replicated || factor.size % (degrees[f] * degree) != 0)
      return;
    for (auto [byAxis, dim] : llvm::zip_equal(operands, factor.operandDims))
      byAxis.dimOfAxis[a] = dim;
    bool isPossible = true;
    for (auto [byAxis, dim] : llvm::zip_equal(results, factor.resultDims)) {
      byAxis.dimOfAxis[a] = dim;
      if (dim < 0 && factor.kind != FactorKind::Parallel)
        isPossible &= makePartial(byAxis, a, getKind(factor.kind));
    }
    degrees[f] *= degree;
    if (isPossible)
      visitNextAxis(a);
    degrees[f] /= degree;
    for (ShardingByAxis &byAxis : llvm::concat<ShardingByAxis>(operands, results))
      byAxis.dimOfAxis[a] = dist::kReplicated;
  }

  /// Makes the operands of a linear set, and so the results, partial sums over axis `a`.
  void passPartialSums(size_t a, const std::vector<unsigned> &set) {
    for (unsigned i : set)
      if (!makePartial(operands[i], a, ReductionKind::Sum))
        return;
    for (ShardingByAxis &result : results)
      if (!makePartial(result, a, ReductionKind::Sum))
        return;
    visitNextAxis(a);
  }

  /// Shards the dimensions of all operands from index `from` on as one flat dimension.
  void shardFlat(size_t a, int from) {
    for (const ShardingByAxis &byAxis : llvm::concat<const ShardingByAxis>(operands, results))
      if (llvm::is_contained(byAxis.dimOfAxis, dist::kFlat) && byAxis.flatFrom != from)
        return;
    for (auto [byAxis, operand] : llvm::zip_equal(operands, c.operands))
      if (operand.type.getRank() > 0)
        std::tie(byAxis.dimOfAxis[a], byAxis.flatFrom) = std::tuple(int(dist::kFlat), from);
    for (ShardingByAxis &byAxis : results) {
      if (rule.contractsFlat)
        (void)makePartial(byAxis, a, ReductionKind::Sum);
      else
        std::tie(byAxis.dimOfAxis[a], byAxis.flatFrom) = std::tuple(int(dist::kFlat), from);
    }
    visitNextAxis(a);
  }

  /// False if the value already has partial axes of another kind.
  static bool makePartial(ShardingByAxis &byAxis, size_t a, ReductionKind kind) {
    bool isOther = llvm::is_contained(byAxis.dimOfAxis, dist::kPartial) && byAxis.kind != kind;
    byAxis.dimOfAxis[a] = dist::kPartial;
    byAxis.kind = kind;
    return !isOther;
  }

  static ReductionKind getKind(FactorKind kind) {
    return kind == FactorKind::Max   ? ReductionKind::Max
           : kind == FactorKind::Min ? ReductionKind::Min
                                     : ReductionKind::Sum;
  }

  /// Flat storage may start at any dimension of the operand with the most dimensions.
  int getFlatRank() const {
    int64_t rank = 0;
    for (const Tensor &operand : c.operands)
      rank = std::max(rank, operand.type.getRank());
    return static_cast<int>(rank);
  }

  OpSharding makeSharding() const {
    OpSharding sharding;
    auto apply = [&](ir::NamedTensorType type, const ShardingByAxis &byAxis) {
      return type.withSharding(mesh.getSharding(type.getRank(), byAxis));
    };
    for (auto [operand, byAxis] : llvm::zip_equal(c.operands, operands))
      sharding.operands.push_back(apply(operand.type, byAxis));
    for (auto [type, byAxis] : llvm::zip_equal(c.results, results))
      sharding.results.push_back(apply(type, byAxis));
    return sharding;
  }

  const Case &c;
  const dist::ShardingRule &rule;
  const dist::MeshView &mesh;
  std::vector<ShardingByAxis> operands, results;
  std::vector<int64_t> degrees; ///< of each factor: the number of its shards
  std::vector<OpSharding> found;
};

} // namespace

std::vector<OpSharding> ops::enumerateShardings(const Case &c, const dist::ShardingRule &rule,
                                                const dist::MeshView &mesh) {
  return Enumeration(c, rule, mesh).run();
}
