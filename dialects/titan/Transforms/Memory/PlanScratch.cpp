//===- PlanScratch.cpp - Memory that operations need while they run -------===//
//
// Working memory of kernels, and room for the padding of flat storage.
//
//===----------------------------------------------------------------------===//

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Transforms/Memory/Planner.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

void Planner::planScratch(Operation *op) {
  auto needs = dyn_cast<ScratchOpInterface>(op);
  if (!needs)
    return planPadding(op);
  std::string name = op->getName().stripDialect().str() + "_scratch";
  int64_t now = liveness.getStart(op);
  SmallVector<Attribute> scratch;
  for (NamedTensorType type : needs.getScratchTensors())
    scratch.push_back(makeBuffer(name, type, now, now));
  int64_t bytes = needs.getScratchBytes(
      dist::getDegrees(dist::MeshOp::lookup(function->getParentOfType<ModuleOp>())));
  if (bytes > 0) {
    Builder builder(context);
    auto size = DimAttr::get(context, builder.getStringAttr("scratch"), llvm::divideCeil(bytes, 8));
    scratch.push_back(makeBuffer(name, NamedTensorType::get(builder.getF64Type(), size), now, now));
    buffers.back().per = builder.getStringAttr("thread");
  }
  if (!scratch.empty())
    op->setAttr(kScratch, ArrayAttr::get(context, scratch));
}

/// Flat storage is padded to a multiple of the degree, so whole values need room for the padding:
/// behind the value where its buffer can have it, else in a buffer for as long as the exchange
/// lasts.
void Planner::planPadding(Operation *op) {
  bool gathers = isa<dist::AllGatherOp>(op);
  if (!gathers && !isa<dist::ReduceScatterOp>(op))
    return;
  SmallVector<Attribute> scratch;
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    Value whole = gathers ? Value(result) : operand, flat = gathers ? operand : Value(result);
    auto getSharding = [](Value value) {
      return cast<NamedTensorType>(value.getType()).getShardingOrReplicated();
    };
    ArrayAttr axes = getSharding(flat).getFlatAxes();
    scratch.push_back(getInlinePlace());
    if (axes.empty() || axes == getSharding(whole).getFlatAxes() ||
        (getSharding(flat).getFlatFrom() == 0 && pad(places.lookup(whole), axes)))
      continue;
    int64_t now = liveness.getStart(op);
    int64_t last = dist::getStartChannel(op) ? liveness.getLastUse(result) : now;
    PlaceAttr place = makeBuffer(whole, now, last);
    pad(place, axes);
    scratch.back() = place;
  }
  if (llvm::any_of(scratch, [&](Attribute place) { return place != getInlinePlace(); }))
    op->setAttr(kScratch, ArrayAttr::get(context, scratch));
}

bool Planner::pad(PlaceAttr place, ArrayAttr axes) {
  if (place.getSpace() != MemorySpace::Transient || !place.getLevels().empty())
    return false;
  Buffer &buffer = getBuffer(place);
  if (buffer.pad && buffer.pad != axes)
    return false;
  buffer.pad = axes;
  return true;
}
