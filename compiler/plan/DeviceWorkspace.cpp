#include "compiler/plan/DeviceWorkspace.h"
#include "base/kernels/FlashWorkspace.h"
#include "dialects/titan/IR/Titan.h"

using namespace mlir;

namespace titan::plan {
namespace {

/// The sizes of one call that computes the whole operation on a rank.
template <typename Op> flash_workspace::Sizes getSizes(Op op, const dist::Degrees &degrees) {
  ir::NamedTensorType q = op.getQuery().getType(), k = op.getKey().getType();
  auto sizeIn = [&](ir::NamedTensorType type, StringAttr name) {
    return dist::getLocalShape(type, degrees)[type.findDimIndex(name)];
  };
  int64_t kvHeads = 1, group = 1; // products of the dimensions that keys have, and do not have
  for (auto [dim, size] : llvm::zip_equal(q.getDims(), dist::getLocalShape(q, degrees)))
    if (dim.getName() != op.getAlongAttr() && dim.getName() != op.getHeadAttr())
      (k.hasDim(dim.getName()) ? kvHeads : group) *= size;
  return {.outer = 1,
          .queries = sizeIn(q, op.getAlongAttr()),
          .keys = sizeIn(k, op.getAlongAttr()),
          .kvHeads = kvHeads,
          .group = group,
          .head = sizeIn(q, op.getHeadAttr())};
}

/// Whether flash attention is possible, by the properties that do not depend on memory layouts and
/// masks.
template <typename Op> bool isFlashPossible(Op op, const flash_workspace::Sizes &sizes) {
  return op.getQuery().getType().getElementType().isBF16() && !op.getSoftCap() &&
         !op.getDocuments() && flash_workspace::isSupportedHead(sizes.head) &&
         op.getValueHead().getSize() == sizes.head;
}

} // namespace

int64_t getFlashWorkspace(Operation *op, const dist::Degrees &degrees) {
  if (auto attention = dyn_cast<ir::AttentionOp>(op))
    if (const auto sizes = getSizes(attention, degrees); isFlashPossible(attention, sizes))
      return flash_workspace::forwardBytes(sizes);
  if (auto gradient = dyn_cast<ir::AttentionGradOp>(op); gradient && !gradient.getLseCotangent())
    if (const auto sizes = getSizes(gradient, degrees); isFlashPossible(gradient, sizes))
      return flash_workspace::backwardBytes(sizes);
  return 0;
}

} // namespace titan::plan
