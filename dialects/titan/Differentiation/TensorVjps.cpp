//===- TensorVjps.cpp - Gradients of contraction, indexing and the like ---===//
//
// All of these but the maximum and minimum are linear in each operand, so a gradient is the
// transposed operation: take and put, split and merge, slice and pad are each other's.
//
//===----------------------------------------------------------------------===//

#include "dialects/titan/Differentiation/Differentiation.h"
#include "dialects/titan/Differentiation/VjpModel.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorAttributes.h"

using namespace mlir;

namespace titan::ir {

static Type getElementTypeOf(Value value) {
  return cast<NamedTensorType>(value.getType()).getElementType();
}

NamedTensorType Vjp::getTypeLike(Value operand, Value value) {
  return mlir::cast<NamedTensorType>(operand.getType()).withElementType(getElementTypeOf(value));
}

NamedTensorType Vjp::getSumType(Value operand, Value terms) {
  NamedTensorType type = getCotangentType(operand);
  return type.withElementType(getWider(type.getElementType(), getElementTypeOf(terms)));
}

static LogicalResult flow(ShardingConstraintOp op, Vjp &v) {
  v.flowTo(0, [&] {
    auto constraint =
        v.create<ShardingConstraintOp>(v.getTypeLike(op.getInput(), v.cotangent()), v.cotangent());
    if (Attribute name = op->getAttr(attr::kName))
      constraint->setAttr(attr::kName, name);
    return constraint;
  });
  return success();
}

static LogicalResult flow(StopGradientOp, Vjp &) {
  return success();
}

/// One factor of a product receives the cotangent times the other, summed over what the factor
/// lacks. The two contractions are marked, because schedules move weight gradients about.
static Value contractWith(Value lhs, Value rhs, Value operand, Vjp &v) {
  // The cotangent of a sum that was kept in a wider type than its terms.
  Type widest = getWider(getElementTypeOf(lhs), getElementTypeOf(rhs));
  lhs = v.cast(lhs, widest);
  rhs = v.cast(rhs, widest);
  auto contract = v.create<ContractOp>(v.getSumType(operand, lhs), lhs, rhs);
  StringRef part = isFromParameter(operand) ? "wgrad" : "dgrad";
  contract->setAttr(attr::kGradKind, StringAttr::get(operand.getContext(), part));
  return contract;
}

static LogicalResult flow(ContractOp op, Vjp &v) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  v.flowTo(0, [&] { return contractWith(v.cotangent(), rhs, lhs, v); });
  v.flowTo(1, [&] { return contractWith(lhs, v.cotangent(), rhs, v); });
  if (op.getInto())
    v.flowTo(2, [&] { return v.cotangent(); });
  return success();
}

/// Every maximal (minimal) element receives the cotangent divided by their number, as torch.amax.
static Value flowToExtremes(ReduceOp op, Vjp &v) {
  Value mask = v.compare(ComparePredicate::EQ, op.getInput(), op.getResult());
  Value ones = v.cast(mask, op.getInput().getType().getElementType());
  Value count = v.fitTo(ones, op.getResult().getType());
  Value share = v.div(v.cotangent(), count);
  return v.select(mask, share, v.constant(0, op.getInput()));
}

static LogicalResult flow(ReduceOp op, Vjp &v) {
  bool isSum = op.getKind() == dist::ReductionKind::Sum;
  v.flowTo(0, [&] { return isSum ? v.cotangent() : flowToExtremes(op, v); });
  return success();
}

/// Indices have no cotangent.
static LogicalResult flow(CheckIndexOp, Vjp &) {
  return success();
}

static LogicalResult flow(GatherOp op, Vjp &v) {
  v.flowTo(0, [&] {
    // Rows may take many updates each.
    NamedTensorType type = v.getSumType(op.getInput(), v.cotangent());
    type = type.withElementType(getAccumulationType(type.getElementType()));
    return v.create<ScatterOp>(type, v.cotangent(), op.getIndices(), op.getAlongAttr());
  });
  return success();
}

/// Every update lies at the place its index names, so it receives what the cotangent has there.
static LogicalResult flow(ScatterOp op, Vjp &v) {
  if (op.getInto())
    v.flowTo(2, [&] { return v.cotangent(); });
  v.flowTo(0, [&] {
    NamedTensorType table = op.getResult().getType();
    SmallVector<DimAttr> rest;
    for (DimAttr dim : table.getDims())
      if (dim.getName() != op.getAlongAttr())
        rest.push_back(dim);
    auto rows = NamedTensorType::get(getElementTypeOf(v.cotangent()), rest);
    return v.create<GatherOp>(joinTypes(rows, op.getIndices().getType()), v.cotangent(),
                              op.getIndices(), op.getAlongAttr());
  });
  return success();
}

static LogicalResult flow(RenameOp op, Vjp &v) {
  v.flowTo(0, [&] {
    return v.create<RenameOp>(v.getTypeLike(op.getInput(), v.cotangent()), v.cotangent());
  });
  return success();
}

static LogicalResult flow(SplitOp op, Vjp &v) {
  v.flowTo(0, [&] {
    return v.create<MergeOp>(v.getTypeLike(op.getInput(), v.cotangent()), v.cotangent(),
                             op.getDimAttr());
  });
  return success();
}

static LogicalResult flow(MergeOp op, Vjp &v) {
  v.flowTo(0, [&] {
    return v.create<SplitOp>(v.getTypeLike(op.getInput(), v.cotangent()), v.cotangent(),
                             op.getDimAttr());
  });
  return success();
}

static LogicalResult flow(SliceOp op, Vjp &v) {
  v.flowTo(0, [&] {
    return v.create<PadOp>(v.getTypeLike(op.getInput(), v.cotangent()), v.cotangent(),
                           op.getDimAttr(), op.getOffsetAttr());
  });
  return success();
}

static LogicalResult flow(PadOp op, Vjp &v) {
  v.flowTo(0, [&] {
    return v.create<SliceOp>(v.getTypeLike(op.getInput(), v.cotangent()), v.cotangent(),
                             op.getDimAttr(), op.getOffsetAttr());
  });
  return success();
}

/// What was chosen takes the cotangents; where they came from is not differentiated.
static LogicalResult flow(TopKOp op, Vjp &v) {
  if (!v.cotangent(0))
    return success();
  v.flowTo(0, [&] {
    NamedTensorType type = v.getSumType(op.getInput(), v.cotangent(0));
    type = type.withElementType(getAccumulationType(type.getElementType()));
    return v.create<ScatterOp>(type, v.cotangent(0), op.getIndices(), op.getAlongAttr());
  });
  return success();
}

/// Element i is in all sums from i on.
static LogicalResult flow(CumulativeSumOp op, Vjp &v) {
  v.flowTo(0, [&] {
    auto sums = v.create<CumulativeSumOp>(v.getTypeLike(op.getInput(), v.cotangent()),
                                          v.cotangent(), op.getAlongAttr(), /*reverse=*/UnitAttr());
    sums.setReverse(!op.getReverse());
    return sums;
  });
  return success();
}

void attachTensorVjps(MLIRContext *context) {
  attachVjps<ShardingConstraintOp, StopGradientOp, ContractOp, ReduceOp, CheckIndexOp, GatherOp,
             ScatterOp, RenameOp, SplitOp, MergeOp, SliceOp, PadOp, TopKOp, CumulativeSumOp>(
      context);
}

} // namespace titan::ir
