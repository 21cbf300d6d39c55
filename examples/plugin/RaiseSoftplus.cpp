// The pass --raise-softplus, which replaces log(1 + exp(x)) by softplus.softplus.

#include "Softplus.h"
#include "dialects/titan/Support/PassReport.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace titan;

namespace {

bool isOne(Value value) {
  auto constant = value.getDefiningOp<ir::ConstantOp>();
  return constant && constant.getNumber() == 1;
}

/// Replaces log(exp(x) + 1); the operands of the sum may be in either order.
struct RaisePattern : OpRewritePattern<ir::LogOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ir::LogOp log, PatternRewriter &rewriter) const override {
    auto sum = log.getInput().getDefiningOp<ir::AddOp>();
    if (!sum)
      return failure();
    for (auto [term, other] :
         {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
      if (auto exp = term.getDefiningOp<ir::ExpOp>(); exp && isOne(other)) {
        rewriter.replaceOpWithNewOp<softplus::SoftplusOp>(log, log.getResult().getType(),
                                                          exp.getInput());
        return success();
      }
    return failure();
  }
};

struct RaisePass : PassWrapper<RaisePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaisePass)

  StringRef getArgument() const final { return "raise-softplus"; }
  StringRef getDescription() const final { return "make log(1 + exp(x)) one operation"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<softplus::SoftplusDialect>();
  }

  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaisePattern>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    uint64_t count = 0;
    getOperation().walk([&](softplus::SoftplusOp) { ++count; });
    TITAN_COUNT(numRaised, count); // printed by titan-opt --titan-statistics
  }

  Statistic numRaised{this, "raised", "Operations that the pass made"};
};

} // namespace

void softplus::registerRaisePass() {
  PassRegistration<RaisePass>();
}
