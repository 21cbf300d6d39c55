//===- FuseRows.cpp - The pass --titan-fuse-rows --------------------------===//

#include "dialects/titan/Transforms/Fusion/Fusion.h"
#include "dialects/titan/Transforms/Fusion/Groups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// Moves the operations of the group into a region before `at`; the region yields values with other
/// uses.
static void build(const fusion::Group &group, Operation *at) {
  OpBuilder builder(at);
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  for (Operation *op : group.ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !llvm::is_contained(group.ops, user); })) {
        yielded.push_back(result);
        types.push_back(result.getType());
      }
  SmallVector<Attribute> rows(group.rows.begin(), group.rows.end());
  auto fused =
      builder.create<FusedOp>(group.ops.front()->getLoc(), types, builder.getArrayAttr(rows));
  Block *body = builder.createBlock(&fused.getBody());
  for (Operation *op : group.ops)
    op->moveBefore(body, body->end());
  for (auto [value, result] : llvm::zip_equal(yielded, fused.getResults()))
    value.replaceUsesWithIf(result, [&](OpOperand &use) {
      return use.getOwner()->getBlock() != body && !fused->isAncestor(use.getOwner());
    });
  builder.setInsertionPointToEnd(body);
  builder.create<YieldOp>(fused.getLoc(), yielded);
}

static void fuseBlock(Block &block) {
  SmallVector<Operation *> order;
  SmallVector<fusion::Group> groups = fusion::Grouping(block).run(order);
  for (Operation *op : order)
    op->moveBefore(&block, block.end());
  for (const fusion::Group &group : groups)
    build(group, group.ops.front());
}

namespace {

/// Fuses elementwise operations and reductions over the same rows. Input:
///   %s = titan.reduce sum %x : [seq, embed] -> [seq]
///   %y = titan.div %x, %s : [seq, embed]
/// Output:
///   %y = titan.fused rows ["seq"] { %s = titan.reduce ...  %d = titan.div ...  titan.yield %d }
/// `%s` is never a tensor in memory, and the second read of `%x` is from the cache.
struct FuseRowsPass : PassWrapper<FuseRowsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseRowsPass)

  StringRef getArgument() const final { return "titan-fuse-rows"; }
  StringRef getDescription() const final {
    return "Fuse elementwise operations and reductions over the same rows";
  }

  void runOnOperation() final {
    for (Block *block : fusion::getBodies(getOperation()))
      fuseBlock(*block);
  }
};

} // namespace

std::unique_ptr<Pass> fusion::createFuseRowsPass() {
  return std::make_unique<FuseRowsPass>();
}

void fusion::buildFusePhase(OpPassManager &passes) {
  passes.addNestedPass<func::FuncOp>(createAddIntoPass());
  // Two loops over one long row would not fit into one region.
  passes.addNestedPass<func::FuncOp>(createRecomputeRowsPass());
  passes.addNestedPass<func::FuncOp>(createFuseRowsPass());
}

void fusion::registerFusionPasses() {
  registerPass(createAddIntoPass);
  registerPass(createRecomputeRowsPass);
  registerPass(createFuseRowsPass);
}
