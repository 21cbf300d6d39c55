//===- Shardings.cpp - Enumerates the shardings of an operation -----------===//

#include "tests/ops/Shardings.h"

#include <optional>

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using dist::FactorKind;
using dist::Places;
using dist::ReductionKind;

namespace {

class Enumeration {
public:
  Enumeration(const Case &c, const dist::ShardingRule &rule, const dist::MeshView &mesh)
      : c(c), rule(rule), mesh(mesh), operands(c.operands.size(), mesh.getNoPlaces()),
        results(c.results.size(), mesh.getNoPlaces()), parts(rule.factors.size(), 1) {}

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
      split(a, f);
    for (const std::vector<unsigned> &set : rule.linearSets)
      pass(a, set);
    if (rule.isElementwise || rule.contractsFlat)
      for (int from = 0; from < getFlatRank(); ++from)
        lieFlat(a, from);
  }

  /// Visits the next axis, then undoes the choice for this one.
  void goOn(size_t a) {
    visit(a + 1);
    for (Places &places : llvm::concat<Places>(operands, results))
      places.axes[a] = dist::kNowhere;
  }

  void split(size_t a, size_t f) {
    const dist::Factor &factor = rule.factors[f];
    int64_t degree = mesh.getAxes()[a].degree;
    if (factor.kind == FactorKind::Replicated || factor.size % (parts[f] * degree) != 0)
      return;
    for (auto [places, dim] : llvm::zip_equal(operands, factor.operandDims))
      places.axes[a] = dim;
    bool isPossible = true;
    for (auto [places, dim] : llvm::zip_equal(results, factor.resultDims)) {
      places.axes[a] = dim;
      if (dim < 0 && factor.kind != FactorKind::Parallel)
        isPossible &= makePartial(places, a, getKind(factor.kind));
    }
    parts[f] *= degree;
    if (isPossible)
      goOn(a);
    parts[f] /= degree;
    for (Places &places : llvm::concat<Places>(operands, results))
      places.axes[a] = dist::kNowhere;
  }

  void pass(size_t a, const std::vector<unsigned> &set) {
    for (unsigned i : set)
      if (!makePartial(operands[i], a, ReductionKind::Sum))
        return;
    for (Places &result : results)
      if (!makePartial(result, a, ReductionKind::Sum))
        return;
    goOn(a);
  }

  void lieFlat(size_t a, int from) {
    for (const Places &places : llvm::concat<const Places>(operands, results))
      if (llvm::is_contained(places.axes, dist::kFlat) && places.flatFrom != from)
        return;
    for (auto [places, operand] : llvm::zip_equal(operands, c.operands))
      if (operand.type.getRank() > 0)
        std::tie(places.axes[a], places.flatFrom) = std::tuple(int(dist::kFlat), from);
    for (Places &places : results) {
      if (rule.contractsFlat)
        (void)makePartial(places, a, ReductionKind::Sum);
      else
        std::tie(places.axes[a], places.flatFrom) = std::tuple(int(dist::kFlat), from);
    }
    goOn(a);
  }

  /// A value has partial axes of one kind only.
  static bool makePartial(Places &places, size_t a, ReductionKind kind) {
    bool isOther = llvm::is_contained(places.axes, dist::kPartial) && places.kind != kind;
    places.axes[a] = dist::kPartial;
    places.kind = kind;
    return !isOther;
  }

  static ReductionKind getKind(FactorKind kind) {
    return kind == FactorKind::Max   ? ReductionKind::Max
           : kind == FactorKind::Min ? ReductionKind::Min
                                     : ReductionKind::Sum;
  }

  /// Flat storage may start at any dimension of the smallest value.
  int getFlatRank() const {
    int64_t rank = 0;
    for (const Tensor &operand : c.operands)
      rank = std::max(rank, operand.type.getRank());
    return static_cast<int>(rank);
  }

  OpSharding makeSharding() const {
    OpSharding sharding;
    auto apply = [&](ir::NamedTensorType type, const Places &places) {
      return type.withSharding(mesh.getSharding(type.getRank(), places));
    };
    for (auto [operand, places] : llvm::zip_equal(c.operands, operands))
      sharding.operands.push_back(apply(operand.type, places));
    for (auto [type, places] : llvm::zip_equal(c.results, results))
      sharding.results.push_back(apply(type, places));
    return sharding;
  }

  const Case &c;
  const dist::ShardingRule &rule;
  const dist::MeshView &mesh;
  std::vector<Places> operands, results;
  std::vector<int64_t> parts; ///< the degree by which each factor is sharded
  std::vector<OpSharding> found;
};

} // namespace

std::vector<OpSharding> ops::enumerateShardings(const Case &c, const dist::ShardingRule &rule,
                                                const dist::MeshView &mesh) {
  return Enumeration(c, rule, mesh).run();
}
