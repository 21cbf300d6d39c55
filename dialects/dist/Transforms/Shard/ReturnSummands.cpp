//===- ReturnSummands.cpp - What a rank adds to an output ------------------===//

#include "dialects/dist/Transforms/Shard/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTRETURNSUMMANDS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

/// What all ranks' summands of `value` are, before they are added up.
static Value getSummands(Value value) {
  auto sum = value.getDefiningOp<AllReduceOp>();
  if (!sum)
    return value;
  Value summands = sum.getInputs()[cast<OpResult>(value).getResultNumber()];
  auto type = cast<ir::NamedTensorType>(summands.getType());
  bool isSum = type.getShardingOrReplicated().getPartialKind() == ReductionKind::Sum;
  return isSum ? getSummands(summands) : value;
}

static void returnSummands(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &returned : terminator->getOpOperands())
    if (function.getResultAttr(returned.getOperandNumber(), ir::attr::kSummands))
      returned.set(getSummands(returned.get()));
  function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                             terminator->getOperandTypes()));
}

namespace {
struct ReturnSummands : titan::dist::impl::DistReturnSummandsBase<ReturnSummands> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      returnSummands(function);
  }
};
} // namespace
