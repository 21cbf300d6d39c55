// The pass --dist-return-unreduced.

#include "dialects/dist/Transforms/Shard/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTRETURNUNREDUCED
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

/// The unreduced value of an all-reduced sum; `value` itself if it is no all-reduced sum.
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

/// Whether a term of the partial sum is shared by all ranks, so that one rank alone holds it. A
/// repeat has such a term if any operation inside has.
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
    if (!getOperation().isDeclaration())
      returnUnreduced(getOperation());
  }
};
} // namespace
