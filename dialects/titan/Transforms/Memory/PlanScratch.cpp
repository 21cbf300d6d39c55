// Scratch memory of operations.
//
// Scratch of kernels, and memory for the padding of flat tensors.

#include "dialects/titan/IR/TensorType.h"
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
    scratch.push_back(makeAllocation(name, type, now, now));
  int64_t bytes = needs.getScratchBytes(
      dist::getDegrees(dist::MeshOp::lookup(function->getParentOfType<ModuleOp>())));
  if (bytes > 0) {
    Builder builder(context);
    auto size = DimAttr::get(context, builder.getStringAttr("scratch"), llvm::divideCeil(bytes, 8));
    scratch.push_back(
        makeAllocation(name, NamedTensorType::get(builder.getF64Type(), size), now, now));
    allocations.back().per = builder.getStringAttr("thread");
  }
  if (!scratch.empty())
    op->setAttr(kScratch, ArrayAttr::get(context, scratch));
}

/// The type of what a collective of a stack moves at once: without the dimensions before the flat
/// ones.
static NamedTensorType getRowType(NamedTensorType whole, dist::ShardingAttr flat) {
  for (int64_t dim = 0; dim < flat.getFlatFrom(); ++dim)
    whole = RepeatOp::getSlotType(whole);
  return whole;
}

/// Flat tensors are padded to a multiple of the degree, so a gathered or unreduced value needs
/// memory for the padding, unless the degree divides the elements. The padding follows the value in
/// its allocation if possible; otherwise the collective has a scratch allocation while it runs. A
/// collective of a stack has scratch for one slot, since it runs slot by slot.
void Planner::planPadding(Operation *op) {
  bool gathers = isa<dist::AllGatherOp>(op);
  if (!gathers && !isa<dist::ReduceScatterOp>(op))
    return;
  // A degree that the launch decides is 0 here.
  const dist::Degrees degrees = dist::getDegrees(
      dist::MeshOp::lookup(function->getParentOfType<ModuleOp>()), /*autoDegree=*/0);
  SmallVector<Attribute> scratch;
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    Value whole = gathers ? Value(result) : operand, flat = gathers ? operand : Value(result);
    auto getSharding = [](Value value) {
      return cast<NamedTensorType>(value.getType()).getShardingOrReplicated();
    };
    ArrayAttr axes = getSharding(flat).getFlatAxes();
    scratch.push_back(getInlineRef());
    if (axes.empty() || axes == getSharding(whole).getFlatAxes() ||
        dist::isFlatEven(getTensorType(flat), degrees) ||
        (getSharding(flat).getFlatFrom() == 0 && pad(refs.lookup(whole), axes)))
      continue;
    int64_t now = liveness.getStart(op);
    int64_t last = dist::getStartChannel(op) ? liveness.getLastUse(result) : now;
    AllocRefAttr ref =
        makeAllocation(op->getName().stripDialect().str() + "_scratch",
                       getRowType(getTensorType(whole), getSharding(flat)), now, last);
    pad(ref, axes);
    scratch.back() = ref;
  }
  if (llvm::any_of(scratch, [&](Attribute ref) { return ref != getInlineRef(); }))
    op->setAttr(kScratch, ArrayAttr::get(context, scratch));
}

bool Planner::pad(AllocRefAttr ref, ArrayAttr axes) {
  if (ref.getSpace() != MemorySpace::Transient || !ref.getLevels().empty())
    return false;
  Allocation &allocation = getAllocation(ref);
  if (allocation.pad && allocation.pad != axes)
    return false;
  allocation.pad = axes;
  return true;
}
