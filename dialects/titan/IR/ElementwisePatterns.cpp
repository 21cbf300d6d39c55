//===- ElementwisePatterns.cpp - Canonical elementwise operations ---------===//

#include "dialects/titan/IR/TypeOf.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace titan::ir;

/// Whether another operand of `operand`'s operation has all dimensions that `expand` adds.
static bool addsNoDimension(ExpandOp expand, OpOperand &operand) {
  NamedTensorType input = expand.getInput().getType();
  return llvm::all_of(expand.getResult().getType().getDims(), [&](DimAttr dim) {
    return input.hasDim(dim.getName()) ||
           llvm::any_of(operand.getOwner()->getOpOperands(), [&](OpOperand &other) {
             return &other != &operand && typeOf(other.get()).hasDim(dim.getName());
           });
  });
}

namespace {

/// Elementwise operations broadcast their operands, so an expansion before one is superfluous if
/// another operand has the dimensions.
template <typename Op> struct SkipExpand : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands())
      if (auto expand = operand.get().template getDefiningOp<ExpandOp>();
          expand && addsNoDimension(expand, operand)) {
        rewriter.modifyOpInPlace(op, [&] { operand.set(expand.getInput()); });
        return success();
      }
    return failure();
  }
};

} // namespace

void AddOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipExpand<AddOp>>(context);
}
void SubOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipExpand<SubOp>>(context);
}
void MulOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipExpand<MulOp>>(context);
}
void DivOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipExpand<DivOp>>(context);
}
void MaximumOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipExpand<MaximumOp>>(context);
}
void MinimumOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipExpand<MinimumOp>>(context);
}
void CompareOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipExpand<CompareOp>>(context);
}
void SelectOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipExpand<SelectOp>>(context);
}
