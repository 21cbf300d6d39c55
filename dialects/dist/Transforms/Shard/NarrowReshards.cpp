//===- NarrowReshards.cpp - The pass --dist-narrow-reshards ---------------===//

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TypeOf.h"
#include "dialects/titan/Support/PassReport.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTNARROWRESHARDS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;
using ir::typeOf;

/// A conversion to a wider (narrower) floating-point type.
static bool widens(ir::CastOp op) {
  Type from = typeOf(op.getInput()).getElementType(), to = typeOf(op.getResult()).getElementType();
  return from != to && ir::isSameOrWiderFloat(from, to);
}
static bool narrows(ir::CastOp op) {
  Type from = typeOf(op.getInput()).getElementType(), to = typeOf(op.getResult()).getElementType();
  return from != to && ir::isSameOrWiderFloat(to, from);
}

/// Whether the reshard does not reduce, so that casts commute with it.
static bool isMove(ReshardOp reshard) {
  return !typeOf(reshard.getInput()).getShardingOrReplicated().isPartial() &&
         !typeOf(reshard.getResult()).getShardingOrReplicated().isPartial();
}

/// Whether the reshard needs communication.
static bool sends(ReshardOp reshard, const MeshView &mesh) {
  ShardingByDim from = mesh.getByDim(typeOf(reshard.getInput()).getShardingOrReplicated());
  ShardingByDim to = mesh.getByDim(typeOf(reshard.getResult()).getShardingOrReplicated());
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
    Type to = typeOf(convert.getResult()).getElementType();
    if (element && element != to)
      return {};
    element = to;
  }
  return element;
}

/// cast(reshard(x)) -> reshard(cast(x)).
static void castBefore(ReshardOp reshard, Type element) {
  OpBuilder builder(reshard);
  Value input = reshard.getInput();
  Value partial =
      builder.create<ir::CastOp>(reshard.getLoc(), typeOf(input).withElementType(element), input);
  Value whole = builder.create<ReshardOp>(
      reshard.getLoc(), typeOf(reshard.getResult()).withElementType(element), partial);
  for (Operation *user : llvm::make_early_inc_range(reshard->getUsers())) {
    user->getResult(0).replaceAllUsesWith(whole);
    user->erase();
  }
  reshard.erase();
}

/// reshard(cast(x)) -> cast(reshard(x)).
static void castAfter(ReshardOp reshard, ir::CastOp convert) {
  OpBuilder builder(reshard);
  Value narrow = convert.getInput();
  NamedTensorType target = typeOf(reshard.getResult());
  Value moved = builder.create<ReshardOp>(
      reshard.getLoc(), target.withElementType(typeOf(narrow).getElementType()), narrow);
  reshard.replaceAllUsesWith(
      builder.create<ir::CastOp>(convert.getLoc(), target, moved).getResult());
  reshard.erase();
  if (convert.use_empty())
    convert.erase();
}

namespace {
struct NarrowReshards : titan::dist::impl::DistNarrowReshardsBase<NarrowReshards> {
  void runOnOperation() override {
    FailureOr<MeshView> mesh = MeshView::get(getOperation()->getParentOfType<ModuleOp>());
    if (failed(mesh))
      return signalPassFailure();
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp reshard) {
      if (isMove(reshard))
        reshards.push_back(reshard);
    });
    for (ReshardOp reshard : reshards) {
      auto convert = reshard.getInput().getDefiningOp<ir::CastOp>();
      if (convert && widens(convert))
        castAfter(reshard, convert);
      else if (Type element = getNarrowUse(reshard); element && sends(reshard, *mesh))
        castBefore(reshard, element);
      else
        continue;
      TITAN_COUNT(movedCasts, 1);
    }
  }
};
} // namespace
