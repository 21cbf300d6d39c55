//===- ReturnUnreduced.cpp - What a rank adds to an output ------------------===//

#include "dialects/dist/Transforms/Shard/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTRETURNUNREDUCED
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

/// What all ranks' summands of `value` are, before they are added up.
static Value getUnreduced(Value value) {
  auto sum = value.getDefiningOp<AllReduceOp>();
  if (!sum)
    return value;
  Value unreduced = sum.getInputs()[cast<OpResult>(value).getResultNumber()];
  auto type = cast<ir::NamedTensorType>(unreduced.getType());
  bool isSum = type.getShardingOrReplicated().getPartialKind() == ReductionKind::Sum;
  return isSum ? getUnreduced(unreduced) : value;
}

static bool isPartial(Value value) {
  auto type = dyn_cast<ir::NamedTensorType>(value.getType());
  return type && type.getShardingOrReplicated().isPartial();
}

/// Whether some of a partial sum is what all ranks have alike, which one of them has been given to
/// add: its summand says nothing of that rank then. Of a repeat, whether anything in it is.
static bool hasSharedTerm(Value unreduced) {
  SmallVector<Value> open{unreduced};
  DenseSet<Operation *> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (op->walk([](MakePartialOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return true;
    llvm::copy_if(op->getOperands(), std::back_inserter(open), isPartial);
  }
  return false;
}

static void returnUnreduced(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &returned : terminator->getOpOperands())
    if (function.getResultAttr(returned.getOperandNumber(), ir::attr::kUnreduced))
      if (Value unreduced = getUnreduced(returned.get()); !hasSharedTerm(unreduced))
        returned.set(unreduced);
  function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                             terminator->getOperandTypes()));
}

namespace {
struct ReturnUnreduced : titan::dist::impl::DistReturnUnreducedBase<ReturnUnreduced> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration())
        returnUnreduced(function);
  }
};
} // namespace
