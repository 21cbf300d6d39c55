// The pass --titan-fuse-rows: moves the groups of operations (Groups.h) into fused regions.

#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Transforms/Fusion/Groups.h"
#include "dialects/titan/Transforms/Fusion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::fusion {
#define GEN_PASS_DEF_TITANFUSEROWS
#include "dialects/titan/Transforms/Fusion/Passes.h.inc"
} // namespace titan::fusion

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// Moves the operations of the group into a region before `at`; the region yields values with other
/// uses.
static void buildRegion(const fusion::Group &group, Operation *at) {
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

static void printGroup(const fusion::Group &group) {
  llvm::errs() << "fuse over [";
  llvm::interleaveComma(group.rows, llvm::errs(),
                        [](StringAttr row) { llvm::errs() << row.getValue(); });
  llvm::errs() << "]: ";
  llvm::interleaveComma(group.ops, llvm::errs(),
                        [](Operation *op) { llvm::errs() << op->getName(); });
  llvm::errs() << '\n';
}

/// Fuses the groups of a block and returns them. Constants and iotas stay in front of all others.
static SmallVector<fusion::Group> fuseBlock(Block &block) {
  SmallVector<Operation *> order;
  SmallVector<fusion::Group> groups = fusion::Grouping(block).run(order);
  for (Operation *op : order)
    op->moveBefore(&block, block.end());
  for (const fusion::Group &group : groups) {
    TITAN_DEBUG("titan-fuse-rows", printGroup(group));
    buildRegion(group, group.ops.front());
  }
  return groups;
}

namespace {

struct FuseRows : titan::fusion::impl::TitanFuseRowsBase<FuseRows> {
  void runOnOperation() override {
    for (Block *block : fusion::getBodies(getOperation()))
      for (const fusion::Group &group : fuseBlock(*block)) {
        TITAN_COUNT(fusedRegions, 1);
        TITAN_COUNT(fusedOps, group.ops.size());
      }
  }
};

} // namespace
