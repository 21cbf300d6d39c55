// One reshard per value and sharding.

#include "dialects/dist/Transforms/Shard/ReshardCache.h"
#include "dialects/titan/Support/RewriteEach.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

Value ReshardCache::get(Value value, ShardingAttr sharding, Operation *user) {
  if (cast<NamedTensorType>(value.getType()).getSharding() == sharding)
    return value;
  Value &known = made[{value, sharding}];
  if (known)
    return known;
  OpBuilder builder(value.getParentBlock()->findAncestorOpInBlock(*user));
  auto reshard = builder.create<ReshardOp>(value.getLoc(), value, sharding);
  reshards.push_back(reshard);
  return known = reshard.getResult();
}

void ReshardCache::replaceAllUses(Value value, ShardingAttr sharding) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto reshard = builder.create<ReshardOp>(value.getLoc(), value, sharding);
  value.replaceAllUsesExcept(reshard, reshard);
  reshards.push_back(reshard);
}

void ReshardCache::simplify() {
  if (reshards.empty())
    return;
  MLIRContext *context = reshards.front().getContext();
  RewritePatternSet patterns(context);
  ReshardOp::getCanonicalizationPatterns(patterns, context);
  SmallVector<Operation *> ops(reshards.begin(), reshards.end());
  ir::rewriteEach(ops, std::move(patterns));
}
