//===- ReshardCache.cpp - One reshard per value and sharding --------------===//

#include "dialects/dist/Transforms/Shard/ReshardCache.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

Value ReshardCache::get(Value value, ShardingAttr sharding, Operation *user) {
  auto type = cast<NamedTensorType>(value.getType());
  if (type.getSharding() == sharding)
    return value;
  Value &known = made[{value, sharding}];
  if (known)
    return known;
  OpBuilder builder(value.getParentBlock()->findAncestorOpInBlock(*user));
  auto reshard = builder.create<ReshardOp>(value.getLoc(), type.withSharding(sharding), value);
  reshards.push_back(reshard);
  return known = reshard.getResult();
}

void ReshardCache::replaceAllUses(Value value, ShardingAttr sharding) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto type = cast<NamedTensorType>(value.getType());
  auto reshard = builder.create<ReshardOp>(value.getLoc(), type.withSharding(sharding), value);
  value.replaceAllUsesExcept(reshard, reshard);
  reshards.push_back(reshard);
}

void ReshardCache::simplify() {
  if (reshards.empty())
    return;
  MLIRContext *context = reshards.front().getContext();
  RewritePatternSet patterns(context);
  ReshardOp::getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  config.strictMode = GreedyRewriteStrictness::ExistingOps;
  SmallVector<Operation *> ops(reshards.begin(), reshards.end());
  // Whether the driver reaches a fixpoint does not matter: each step keeps the meaning.
  (void)applyOpPatternsAndFold(ops, std::move(patterns), config);
}
