//===- DistFolders.cpp - Folders of reshards and local conversions --------===//

#include "dialects/dist/IR/DistOps.h"
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

/// Each rank takes its shard of what it gave to the gather.
OpFoldResult LocalSliceOp::fold(FoldAdaptor) {
  auto gather = getInput().getDefiningOp<AllGatherOp>();
  if (!gather || gather.getChannel() || gather.getAxes() != getAxes())
    return {};
  Value own = gather.getInputs()[cast<OpResult>(getInput()).getResultNumber()];
  return own.getType() == getType() ? own : Value();
}
