// The pass --titan-count-model-flops.

#include "dialects/titan/Cost/Cost.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANCOUNTMODELFLOPS
#include "dialects/titan/Cost/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

static double getElements(Value value) {
  return static_cast<double>(dist::getLocalNumElements(cast<NamedTensorType>(value.getType()), {}));
}

/// True if operations only gather rows of the parameter: then it takes part in no multiplication.
/// Looks through operations that keep the elements, such as casts.
static bool isOnlyLookedUp(Value parameter) {
  return !parameter.use_empty() && llvm::all_of(parameter.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto gather = dyn_cast<GatherOp>(user))
      return use.get() == gather.getInput();
    return (user->hasTrait<View>() || isa<CastOp>(user)) && isOnlyLookedUp(user->getResult(0));
  });
}

/// The fraction of the matrices that multiply a token in a product of two batches of matrices, such
/// as the experts of slots; 1 for other products.
static double getActiveFraction(ContractOp op, Value parameter, double tokens) {
  NamedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  double batch = 1, points = getElements(op.getResult());
  for (DimAttr dim : lhs.getDims()) {
    if (!rhs.hasDim(dim.getName()))
      continue;
    const bool isBatch = op.getResult().getType().hasDim(dim.getName());
    (isBatch ? batch : points) *= static_cast<double>(dim.getSize());
  }
  if (batch == 1)
    return 1;
  return std::min(1.0, points / (tokens * getElements(parameter)));
}

/// The fraction of the elements of a parameter that multiply a token: 1, except for experts, of
/// which only the active ones do. Looks through repeats.
static double getActiveFraction(Value parameter, double tokens) {
  double most = 0;
  for (OpOperand &use : parameter.getUses()) {
    Operation *user = use.getOwner();
    if (auto grouped = dyn_cast<GroupedContractOp>(user);
        grouped && use.get() == grouped.getRhs() && grouped.getTable() == grouped.getRhs()) {
      NamedTensorType table = grouped.getRhs().getType();
      auto size = table.getDims()[table.findDimIndex(grouped.getAlongAttr())].getSize();
      double rows = getElements(grouped.getIndices());
      most = std::max(most, std::min(1.0, rows / (tokens * static_cast<double>(size))));
    } else if (auto repeat = dyn_cast<RepeatOp>(user);
               repeat && llvm::is_contained(repeat.getScannedInputs(), parameter)) {
      for (RepeatVariant body : repeat.getVariants())
        for (auto [stack, slot, number] : body.getScannedInputs())
          if (stack == parameter)
            most = std::max(most, getActiveFraction(slot, tokens));
    } else if (auto contract = dyn_cast<ContractOp>(user)) {
      most = std::max(most, getActiveFraction(contract, parameter, tokens));
    } else if (user->hasTrait<View>() || isa<CastOp>(user)) {
      most = std::max(most, getActiveFraction(user->getResult(0), tokens));
    } else {
      return 1;
    }
  }
  return most;
}

/// Both products of one forward attention over all keys: the convention ignores the mask.
static double countScores(AttentionOp op) {
  NamedTensorType query = op.getQuery().getType();
  double keys =
      static_cast<double>(query.getDims()[query.findDimIndex(op.getAlongAttr())].getSize());
  auto times = static_cast<double>(countExecutions(op));
  return times * 2 * keys * (getElements(op.getQuery()) + getElements(op->getResult(0)));
}

double ir::countModelFlopsPerToken(func::FuncOp train, double tokens) {
  double parameters = 0, scores = 0;
  for (BlockArgument argument : train.getArguments())
    if (train.getArgAttr(argument.getArgNumber(), attr::kParam) && !isOnlyLookedUp(argument))
      parameters += getElements(argument) * getActiveFraction(argument, tokens);
  train.walk([&](AttentionOp op) { scores += countScores(op); });
  // The backward pass computes each product twice, once per factor.
  return 3 * (2 * parameters + scores / tokens);
}

namespace {
struct CountModelFlops : titan::ir::impl::TitanCountModelFlopsBase<CountModelFlops> {
  void runOnOperation() override {
    setCountAttribute(getOperation(), attr::kModelFlopsPerToken, countModelFlopsPerToken);
  }
};
} // namespace
