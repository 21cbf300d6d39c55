//===- CheckShardings.cpp - Split operations compute what whole ones do ---===//

#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Interpreter.h"
#include "compiler/interpreter/Layout.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "tests/ops/Checks.h"
#include "tests/ops/Programs.h"
#include "tests/ops/Shardings.h"

#include <cmath>

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using interpreter::RankMesh;
using interpreter::RankTensors;
using ir::HostTensor;
using ir::NamedTensorType;

/// A term of a partial sum at global element `index`: rank `part` of `parts` has a share that is
/// its own, so that only what is linear gives the same in the end. Shares are multiples of 1/8,
/// which every element type holds exactly.
static double getTerm(double whole, int64_t part, int64_t parts, int64_t index) {
  auto share = [&](int64_t p) { return static_cast<double>((5 * p + 3 * index) % 17 - 8) / 8; };
  if (part != 0)
    return share(part);
  for (int64_t p = 1; p < parts; ++p)
    whole -= share(p);
  return whole;
}

/// What a rank holds of an operand.
static HostTensor cutOperand(NamedTensorType type, const RankMesh &mesh, int64_t rank,
                             const Tensor &operand) {
  HostTensor global{type.getShape(), operand.values};
  HostTensor part = interpreter::cut(type, mesh, rank, global);
  ArrayAttr partial = type.getShardingOrReplicated().getPartialAxes();
  int64_t parts = dist::getDegreeProduct(partial, mesh.getDegrees());
  if (parts == 1)
    return part;
  std::vector<int64_t> indices = interpreter::getGlobalIndices(type, mesh, rank);
  for (auto [value, index] : llvm::zip_equal(part.data, indices))
    if (index >= 0)
      value = getTerm(operand.values[index], mesh.getPart(rank, partial), parts, index);
  return part;
}

/// The function's results on all ranks of the module's mesh, assembled.
static FailureOr<std::vector<HostTensor>> run(func::FuncOp function, const RankMesh &mesh,
                                              const Case &c) {
  RankTensors arguments(mesh.getNumRanks());
  for (auto [rank, parts] : llvm::enumerate(arguments))
    for (auto [argument, operand] : llvm::zip_equal(function.getArguments(), c.operands))
      parts.push_back(std::make_shared<HostTensor>(
          cutOperand(cast<NamedTensorType>(argument.getType()), mesh, rank, operand)));
  FailureOr<RankTensors> locals = interpreter::interpret(function, mesh, arguments);
  if (failed(locals))
    return failure();
  std::vector<HostTensor> results;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    SmallVector<const HostTensor *> parts;
    for (const auto &rank : *locals)
      parts.push_back(rank[i].get());
    FailureOr<HostTensor> global =
        interpreter::assemble(cast<NamedTensorType>(type), mesh, parts,
                              [&] { return function.emitError("result ") << i << ": "; });
    if (failed(global))
      return failure();
    results.push_back(std::move(*global));
  }
  return results;
}

static LogicalResult compare(func::FuncOp function, const std::vector<HostTensor> &results,
                             const std::vector<HostTensor> &expected) {
  for (auto [i, both] : llvm::enumerate(llvm::zip_equal(results, expected))) {
    double deviation = interpreter::getDeviation(std::get<0>(both), std::get<1>(both));
    if (!(deviation <= 1e-12))
      return function.emitError("result ") << i << " deviates from one rank's by " << deviation;
  }
  return success();
}

static bool isFinite(const std::vector<HostTensor> &tensors) {
  return llvm::all_of(tensors, [](const HostTensor &tensor) {
    return llvm::all_of(tensor.data, [](double value) { return std::isfinite(value); });
  });
}

namespace {

/// One case on one mesh.
class ShardingCheck {
public:
  ShardingCheck(MLIRContext *context, const Case &c, ArrayRef<int64_t> shape)
      : context(context), c(c), shape(shape), verifier(context) {
    verifier.addPass(dist::createDistVerify());
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
    auto results = ::run(function, RankMesh(nullptr, 1), c);
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
  /// The phase's verifier is asked only where it reads the same rule; it lets no anchor pass.
  void breakRule(dist::ShardingRule &rule, Break broken) {
    asksVerifier = broken == Break::Nothing && c.op != ir::AnchorOp::getOperationName();
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
      if (auto results = ::run(function, mesh, c); succeeded(results))
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
