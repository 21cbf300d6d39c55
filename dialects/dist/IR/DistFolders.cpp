// Folders of reshards and local conversions.

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace titan::dist;

OpFoldResult ReshardOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : Value();
}

namespace {

/// A reshard of a reshard converts directly. A first reshard with other users stays, and so does
/// the second: the direct conversion may communicate more.
struct SkipReshard : OpRewritePattern<ReshardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshardOp reshard, PatternRewriter &rewriter) const override {
    auto before = reshard.getInput().getDefiningOp<ReshardOp>();
    if (!before || !before->hasOneUse())
      return failure();
    rewriter.modifyOpInPlace(reshard, [&] { reshard.setOperand(before.getInput()); });
    return success();
  }
};

} // namespace

void ReshardOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipReshard>(context);
}

namespace {

/// An all-gather of the local slices of a replicated value is that value, also if its dimensions
/// were renamed.
struct SkipGather : OpRewritePattern<AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllGatherOp gather, PatternRewriter &rewriter) const override {
    if (gather.getInputs().size() != 1 || gather.getChannel())
      return failure();
    auto rename = gather.getInputs()[0].getDefiningOp<titan::ir::RenameOp>();
    Value input = rename ? rename.getInput() : gather.getInputs()[0];
    auto slice = input.getDefiningOp<LocalSliceOp>();
    auto result = cast<titan::ir::NamedTensorType>(gather->getResult(0).getType());
    if (!slice || slice.getAxes() != gather.getAxes() ||
        slice.getInput().getType().getSharding() != result.getSharding())
      return failure();
    if (rename)
      rewriter.replaceOpWithNewOp<titan::ir::RenameOp>(gather, result, slice.getInput());
    else
      rewriter.replaceOp(gather, slice.getInput());
    return success();
  }
};

} // namespace

void AllGatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipGather>(context);
}

/// The local slice of a gathered value is the gather's operand.
OpFoldResult LocalSliceOp::fold(FoldAdaptor) {
  auto gather = getInput().getDefiningOp<AllGatherOp>();
  if (!gather || gather.getChannel() || gather.getAxes() != getAxes())
    return {};
  Value own = gather.getInputs()[cast<OpResult>(getInput()).getResultNumber()];
  return own.getType() == getType() ? own : Value();
}
