//===- LowerSoftplus.cpp - The pass --lower-softplus ----------------------===//

#include "Softplus.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace titan;

namespace {

/// max(x, 0) + log(1 + exp(-|x|)), -|x| being min(x, -x). All parts lie as the operand does.
struct LowerPattern : OpRewritePattern<softplus::SoftplusOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(softplus::SoftplusOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ir::NamedTensorType type = op.getInput().getType();
    dist::ShardingAttr sharding;
    if (type.getSharding())
      sharding = dist::ShardingAttr::getReplicated(getContext(), 0);
    auto scalar = ir::NamedTensorType::get(type.getElementType(), {}, sharding);
    auto constant = [&](double value) -> Value {
      return rewriter.create<ir::ConstantOp>(loc, scalar, value);
    };
    Value x = op.getInput();
    Value positive = rewriter.create<ir::MaximumOp>(loc, type, x, constant(0));
    Value opposite = rewriter.create<ir::NegOp>(loc, type, x);
    Value small = rewriter.create<ir::MinimumOp>(loc, type, x, opposite);
    Value power = rewriter.create<ir::ExpOp>(loc, type, small);
    Value sum = rewriter.create<ir::AddOp>(loc, type, power, constant(1));
    Value rest = rewriter.create<ir::LogOp>(loc, type, sum);
    rewriter.replaceOpWithNewOp<ir::AddOp>(op, op.getResult().getType(), positive, rest);
    return success();
  }
};

struct LowerPass : PassWrapper<LowerPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerPass)

  StringRef getArgument() const final { return "lower-softplus"; }
  StringRef getDescription() const final { return "take softplus apart, safe for large x"; }

  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerPattern>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

void softplus::registerLowerPass() {
  PassRegistration<LowerPass>();
}
