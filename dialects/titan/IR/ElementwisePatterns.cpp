// Canonicalization of elementwise operations.

#include "dialects/titan/IR/TensorType.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace titan::ir;

/// Whether another operand of `operand`'s operation has all dimensions that `expand` adds.
static bool addsNoDimension(ExpandOp expand, OpOperand &operand) {
  NamedTensorType input = expand.getInput().getType();
  return llvm::all_of(expand.getResult().getType().getDims(), [&](DimAttr dim) {
    return input.hasDim(dim.getName()) ||
           llvm::any_of(operand.getOwner()->getOpOperands(), [&](OpOperand &other) {
             return &other != &operand && getTensorType(other.get()).hasDim(dim.getName());
           });
  });
}

namespace {

/// An expansion before an operation that broadcasts its operands is superfluous if another operand
/// has the dimensions.
struct SkipExpand : OpTraitRewritePattern<Broadcasting> {
  using OpTraitRewritePattern::OpTraitRewritePattern;

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands())
      if (auto expand = operand.get().getDefiningOp<ExpandOp>();
          expand && addsNoDimension(expand, operand)) {
        rewriter.modifyOpInPlace(op, [&] { operand.set(expand.getInput()); });
        return success();
      }
    return failure();
  }
};

} // namespace

void TitanDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<SkipExpand>(getContext());
}
