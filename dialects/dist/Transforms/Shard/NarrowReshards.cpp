// The pass --dist-narrow-reshards.

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/RewriteEach.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTNARROWRESHARDS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::getTensorType;
using ir::NamedTensorType;

/// A conversion to a wider (narrower) floating-point type.
static bool widens(ir::CastOp op) {
  Type from = getTensorType(op.getInput()).getElementType(),
       to = getTensorType(op.getResult()).getElementType();
  return from != to && ir::isSameOrWiderFloat(from, to);
}
static bool narrows(ir::CastOp op) {
  Type from = getTensorType(op.getInput()).getElementType(),
       to = getTensorType(op.getResult()).getElementType();
  return from != to && ir::isSameOrWiderFloat(to, from);
}

/// Whether the reshard does not reduce, so that casts commute with it.
static bool isMove(ReshardOp reshard) {
  return !getTensorType(reshard.getInput()).getShardingOrReplicated().isPartial() &&
         !getTensorType(reshard.getResult()).getShardingOrReplicated().isPartial();
}

/// Whether the reshard needs communication.
static bool sends(ReshardOp reshard, const MeshView &mesh) {
  ShardingByDim from = mesh.getByDim(getTensorType(reshard.getInput()).getShardingOrReplicated());
  ShardingByDim to = mesh.getByDim(getTensorType(reshard.getResult()).getShardingOrReplicated());
  return llvm::any_of(planCollectives(from, to), [](const CollectiveStep &step) {
    return step.kind != CollectiveStep::LocalSlice;
  });
}

/// The narrower type to which all users cast the value; null if there is none.
static Type getNarrowUse(ReshardOp reshard) {
  Type element;
  for (Operation *user : reshard->getUsers()) {
    auto convert = dyn_cast<ir::CastOp>(user);
    if (!convert || !narrows(convert))
      return {};
    Type to = getTensorType(convert.getResult()).getElementType();
    if (element && element != to)
      return {};
    element = to;
  }
  return element;
}

namespace {

/// cast(reshard(x)) -> reshard(cast(x)), where the cast narrows.
struct NarrowBefore : OpRewritePattern<ReshardOp> {
  NarrowBefore(MLIRContext *context, const MeshView &mesh, unsigned &numMoved)
      : OpRewritePattern(context), mesh(mesh), numMoved(numMoved) {}

  LogicalResult matchAndRewrite(ReshardOp reshard, PatternRewriter &rewriter) const override {
    Type element = getNarrowUse(reshard);
    if (!element || !isMove(reshard) || !sends(reshard, mesh))
      return failure();
    Location loc = reshard.getLoc();
    Value input = reshard.getInput();
    Value narrow = rewriter.create<ir::CastOp>(loc, input, element);
    Value moved = rewriter.create<ReshardOp>(
        loc, getTensorType(reshard.getResult()).withElementType(element), narrow);
    for (Operation *user : llvm::make_early_inc_range(reshard->getUsers()))
      rewriter.replaceOp(user, moved);
    rewriter.eraseOp(reshard);
    ++numMoved;
    return success();
  }

  const MeshView &mesh;
  unsigned &numMoved;
};

/// reshard(cast(x)) -> cast(reshard(x)), where the cast widens.
struct WidenAfter : OpRewritePattern<ReshardOp> {
  WidenAfter(MLIRContext *context, unsigned &numMoved)
      : OpRewritePattern(context), numMoved(numMoved) {}

  LogicalResult matchAndRewrite(ReshardOp reshard, PatternRewriter &rewriter) const override {
    auto convert = reshard.getInput().getDefiningOp<ir::CastOp>();
    if (!convert || !widens(convert) || !isMove(reshard))
      return failure();
    Value narrow = convert.getInput();
    NamedTensorType target = getTensorType(reshard.getResult());
    Value moved = rewriter.create<ReshardOp>(
        reshard.getLoc(), target.withElementType(getTensorType(narrow).getElementType()), narrow);
    rewriter.replaceOp(reshard, rewriter.create<ir::CastOp>(convert.getLoc(), target, moved));
    if (convert.use_empty())
      rewriter.eraseOp(convert);
    ++numMoved;
    return success();
  }

  unsigned &numMoved;
};

struct NarrowReshards : titan::dist::impl::DistNarrowReshardsBase<NarrowReshards> {
  void runOnOperation() override {
    FailureOr<MeshView> mesh = MeshView::get(getOperation()->getParentOfType<ModuleOp>());
    if (failed(mesh))
      return signalPassFailure();
    unsigned numMoved = 0;
    RewritePatternSet patterns(&getContext());
    patterns.add<NarrowBefore>(&getContext(), *mesh, numMoved);
    patterns.add<WidenAfter>(&getContext(), numMoved);
    ir::rewriteEach<ReshardOp>(getOperation(), std::move(patterns));
    TITAN_COUNT(movedCasts, numMoved);
  }
};

} // namespace
