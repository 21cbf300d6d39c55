// Folders of reshaping and reduction.
//
// An identity folds if the types are equal, dimensions, element type and sharding. Pairs of
// inverses and of equal kind fold likewise.

#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan::ir;

/// The operand of an operation that changes nothing; else null.
template <typename Op> static Value foldIdentity(Op op) {
  return op.getInput().getType() == op.getResult().getType() ? op.getInput() : Value();
}

/// `inverse(x)` before `op`, where the types of x and of the result are equal: x; else null.
template <typename Inverse, typename Op> static Value foldInverse(Op op) {
  auto before = op.getInput().template getDefiningOp<Inverse>();
  return before && before.getInput().getType() == op.getResult().getType() ? before.getInput()
                                                                           : Value();
}

OpFoldResult StopGradientOp::fold(FoldAdaptor) {
  return foldInverse<StopGradientOp>(*this) ? getInput() : Value();
}

/// A sum over no dimension is its operand. A sum of sums is one sum, unless the inner ones are
/// rounded.
OpFoldResult ReduceOp::fold(FoldAdaptor) {
  if (Value same = foldIdentity(*this))
    return same;
  auto before = getInput().getDefiningOp<ReduceOp>();
  Type element = getInput().getType().getElementType();
  if (!before || !before->hasOneUse() || before.getKind() != getKind() ||
      (isa<FloatType>(element) && element != getAccumulationType(element)))
    return {};
  getInputMutable().assign(before.getInput());
  return getResult();
}

OpFoldResult RenameOp::fold(FoldAdaptor) {
  if (Value same = foldIdentity(*this))
    return same;
  auto before = getInput().getDefiningOp<RenameOp>();
  if (!before)
    return {};
  getInputMutable().assign(before.getInput());
  return getResult();
}

OpFoldResult SplitOp::fold(FoldAdaptor) {
  Value same = foldIdentity(*this);
  return same ? same : foldInverse<MergeOp>(*this);
}

OpFoldResult MergeOp::fold(FoldAdaptor) {
  Value same = foldIdentity(*this);
  return same ? same : foldInverse<SplitOp>(*this);
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (Value same = foldIdentity(*this))
    return same;
  auto pad = getInput().getDefiningOp<PadOp>();
  if (!pad || pad.getDimAttr() != getDimAttr() || pad.getOffset() != getOffset())
    return {};
  return foldInverse<PadOp>(*this);
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return foldIdentity(*this);
}
