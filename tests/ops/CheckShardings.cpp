// Compares operations on sharded operands with the same operations on one rank.

#include "dialects/dist/Transforms/Shard/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "tests/ops/Checks.h"
#include "tests/ops/Programs.h"
#include "tests/ops/Run.h"
#include "tests/ops/Shardings.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using interpreter::RankMesh;
using ir::HostTensor;
using ir::NamedTensorType;

namespace {

/// One case on one mesh.
class ShardingCheck {
public:
  ShardingCheck(MLIRContext *context, const Case &c, ArrayRef<int64_t> shape)
      : context(context), c(c), shape(shape), verifier(context) {
    verifier.addNestedPass<func::FuncOp>(dist::createDistVerify());
  }

  bool run(Break broken, Counts &counts) {
    std::vector<NamedTensorType> operands;
    for (const Tensor &operand : c.operands)
      operands.push_back(operand.type);
    OwningOpRef<ModuleOp> whole = makeModule(context);
    func::FuncOp function = addFunction(*whole, c, operands, c.results);
    auto ruled = dyn_cast<ir::ShardingRuleOpInterface>(function.getBody().front().front());
    if (failed(verify(*whole)) || !ruled) {
      whole->emitError("the case is not valid, or its operation has no sharding rule");
      return false;
    }
    auto results = ops::run(function, RankMesh(nullptr, 1), c);
    if (failed(results) || !isFinite(*results)) {
      whole->emitError("cannot be computed, or is not finite");
      return false;
    }
    dist::ShardingRule rule = ruled.getShardingRule();
    breakRule(rule, broken);
    OwningOpRef<ModuleOp> meshed = makeModule(context, shape);
    FailureOr<dist::MeshView> mesh = dist::MeshView::get(*meshed);
    for (const OpSharding &sharding : enumerateShardings(c, rule, *mesh)) {
      ++counts.shardings;
      if (failed(check(sharding, *results)))
        return false;
    }
    return true;
  }

private:
  /// The verifier is checked only if it uses the same rule; it accepts no sharding constraint.
  void breakRule(dist::ShardingRule &rule, Break broken) {
    asksVerifier = broken == Break::Nothing && c.op != ir::ShardingConstraintOp::getOperationName();
    for (unsigned i = 0; broken == Break::Linear && i < c.operands.size(); ++i)
      rule.linearSets.push_back({i});
    for (dist::Factor &factor : rule.factors)
      if (broken == Break::Split && factor.kind == dist::FactorKind::Replicated)
        factor.kind = dist::FactorKind::Parallel;
  }

  LogicalResult check(const OpSharding &sharding, const std::vector<HostTensor> &expected) {
    OwningOpRef<ModuleOp> module = makeModule(context, shape);
    RankMesh mesh(dist::MeshOp::lookup(*module), 1);
    func::FuncOp function = addFunction(*module, c, sharding.operands, sharding.results);
    if (succeeded(verify(*module)) && (!asksVerifier || succeeded(verifier.run(*module))))
      if (auto results = ops::run(function, mesh, c); succeeded(results))
        if (succeeded(compare(function, *results, expected)))
          return success();
    llvm::errs() << "the operation that was split:\n" << *module << '\n';
    return failure();
  }

  MLIRContext *context;
  const Case &c;
  ArrayRef<int64_t> shape;
  PassManager verifier;
  bool asksVerifier = true;
};

} // namespace

bool ops::checkShardings(MLIRContext *context, const Case &c, ArrayRef<int64_t> shape, Break broken,
                         Counts &counts) {
  return ShardingCheck(context, c, shape).run(broken, counts);
}
