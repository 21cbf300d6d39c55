// The pass --dist-lower-reshards.

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/Support/RewriteEach.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTLOWERRESHARDS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

template <typename Op>
static Value createCollective(OpBuilder &builder, Location loc, Type type, Value input,
                              ArrayAttr axes) {
  return builder.create<Op>(loc, type, input, axes, IntegerAttr()).getResults().front();
}

static Value createStep(OpBuilder &builder, Location loc, const CollectiveStep &step,
                        ArrayAttr axes, Type type, Value input) {
  switch (step.kind) {
  case CollectiveStep::AllGather:
    return createCollective<AllGatherOp>(builder, loc, type, input, axes);
  case CollectiveStep::ReduceScatter:
    return createCollective<ReduceScatterOp>(builder, loc, type, input, axes);
  case CollectiveStep::AllReduce:
    return createCollective<AllReduceOp>(builder, loc, type, input, axes);
  case CollectiveStep::AllToAll:
    return createCollective<AllToAllOp>(builder, loc, type, input, axes);
  case CollectiveStep::LocalSlice:
    return builder.create<LocalSliceOp>(loc, type, input, axes);
  case CollectiveStep::MakePartial:
    return builder.create<MakePartialOp>(loc, type, input, axes);
  }
  llvm_unreachable("every kind is handled");
}

/// Rejects conversions between two reduction kinds.
static LogicalResult checkKinds(ReshardOp reshard) {
  auto from = cast<ir::NamedTensorType>(reshard.getInput().getType()).getShardingOrReplicated();
  auto to = cast<ir::NamedTensorType>(reshard.getType()).getShardingOrReplicated();
  if (!to.isPartial() || (from.isPartial() && from.getPartialKind() == to.getPartialKind()))
    return success();
  if (!from.isPartial() && to.getPartialKind() == ReductionKind::Sum)
    return success();
  return reshard.emitOpError(
             "only replicated values become partial sums, but this reshard leads from ")
         << from << " to " << to;
}

/// Rejects axes of degree 1 and unknown axes, which the phase never names and could not lower.
static LogicalResult checkAxes(ReshardOp reshard, const MeshView &mesh) {
  for (Type type : {reshard.getInput().getType(), reshard.getType()}) {
    ShardingAttr sharding = cast<ir::NamedTensorType>(type).getShardingOrReplicated();
    SmallVector<ArrayAttr> lists(sharding.getDimAxes());
    lists.append({sharding.getFlatAxes(), sharding.getPartialAxes()});
    for (ArrayAttr axes : lists)
      for (auto axis : axes.getAsRange<StringAttr>())
        if (mesh.getIndex(axis) < 0)
          return reshard.emitOpError("names the axis ")
                 << axis << ", of which the mesh has none or one rank";
  }
  return success();
}

namespace {

/// The sequence of collectives that performs the conversion.
struct LowerReshard : OpRewritePattern<ReshardOp> {
  LowerReshard(MLIRContext *context, const MeshView &mesh)
      : OpRewritePattern(context), mesh(mesh) {}

  LogicalResult matchAndRewrite(ReshardOp reshard, PatternRewriter &rewriter) const override {
    auto from = cast<ir::NamedTensorType>(reshard.getInput().getType());
    ShardingAttr source = from.getShardingOrReplicated();
    ShardingAttr target = cast<ir::NamedTensorType>(reshard.getType()).getShardingOrReplicated();
    ReductionKind kind = source.isPartial() ? source.getPartialKind() : target.getPartialKind();
    Value value = reshard.getInput();
    bool nests =
        mesh.isFlatEven(from.withSharding(source)) && mesh.isFlatEven(from.withSharding(target));
    for (const CollectiveStep &step :
         planCollectives(mesh.getByDim(source), mesh.getByDim(target), nests))
      value = createStep(rewriter, reshard.getLoc(), step, mesh.getNames(step.axes),
                         from.withSharding(mesh.getSharding(step.after, kind)), value);
    rewriter.replaceOp(reshard, value);
    return success();
  }

  const MeshView &mesh;
};

struct LowerReshards : titan::dist::impl::DistLowerReshardsBase<LowerReshards> {
  void runOnOperation() override {
    FailureOr<MeshView> mesh = MeshView::get(getOperation()->getParentOfType<ModuleOp>());
    if (failed(mesh))
      return signalPassFailure();
    WalkResult check = getOperation().walk([&](ReshardOp reshard) -> WalkResult {
      return success(succeeded(checkAxes(reshard, *mesh)) && succeeded(checkKinds(reshard)));
    });
    if (check.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerReshard>(&getContext(), *mesh);
    ir::rewriteEach<ReshardOp>(getOperation(), std::move(patterns));
  }
};

} // namespace
