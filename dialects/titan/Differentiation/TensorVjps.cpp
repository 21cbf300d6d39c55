// VJP rules of contraction, indexing and dimensions.
//
// All operations except the maximum and minimum are linear in each operand, so the gradient is the
// transposed operation. Transposed pairs are gather and scatter, split and merge, slice and pad.

#include "dialects/titan/Differentiation/Differentiation.h"
#include "dialects/titan/Differentiation/VjpModel.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;

namespace titan::ir {

static Type getElementType(Value value) {
  return cast<NamedTensorType>(value.getType()).getElementType();
}

NamedTensorType Vjp::getTypeLike(Value operand, Value value) {
  return mlir::cast<NamedTensorType>(operand.getType()).withElementType(getElementType(value));
}

NamedTensorType Vjp::getSumType(Value operand, Value terms) {
  NamedTensorType type = getCotangentType(operand);
  return type.withElementType(getWider(type.getElementType(), getElementType(terms)));
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

/// The wider element type of the factors of a product.
static Type getFactorType(Value lhs, Value rhs) {
  return getWider(getElementType(lhs), getElementType(rhs));
}

static void markGradKind(Operation *contract, Value operand) {
  StringRef kind = isFromParameter(operand) ? "wgrad" : "dgrad";
  contract->setAttr(attr::kGradKind, StringAttr::get(operand.getContext(), kind));
}

/// The cotangent of a factor is the contraction of the result's cotangent with the other factor.
/// The contractions are marked, because schedules move wgrads.
static Value contractWith(Value lhs, Value rhs, Value operand, Vjp &v) {
  // The result may have a wider type than its terms.
  Type widest = getFactorType(lhs, rhs);
  lhs = v.cast(lhs, widest);
  rhs = v.cast(rhs, widest);
  auto contract = v.create<ContractOp>(v.getSumType(operand, lhs), lhs, rhs);
  markGradKind(contract, operand);
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

/// The cotangent of the table. That of one element is a sum over the rows that select the element.
static Value contractRows(GroupedContractOp op, Value lhs, Value rhs, Value table, Vjp &v) {
  Type widest = getFactorType(lhs, rhs);
  lhs = v.cast(lhs, widest);
  rhs = v.cast(rhs, widest);
  // An element may be selected many times.
  NamedTensorType type = v.getSumType(table, lhs);
  type = type.withElementType(getAccumulationType(type.getElementType()));
  auto sums = v.create<GroupedContractOp>(type, lhs, rhs, op.getIndices(), op.getAlongAttr());
  markGradKind(sums, table);
  return sums;
}

/// The cotangent of the rows `operand`: products of `rows` with their elements of the table. If
/// `operand` lacks a dimension of the indices, each of its rows was used several times and receives
/// the sum over that dimension.
static Value contractTable(GroupedContractOp op, Value rows, Value table, Value operand, Vjp &v) {
  Type widest = getFactorType(rows, table);
  rows = v.cast(rows, widest);
  table = v.cast(table, widest);
  NamedTensorType type = v.getSumType(operand, rows);
  const bool isSum = llvm::any_of(op.getIndices().getType().getDims(),
                                  [&](DimAttr dim) { return !type.hasDim(dim.getName()); });
  if (isSum)
    type = type.withElementType(getAccumulationType(type.getElementType()));
  auto product = v.create<GroupedContractOp>(type, rows, table, op.getIndices(), op.getAlongAttr());
  markGradKind(product, operand);
  return product;
}

/// The values that `rows` repeats along dimensions of the indices, or widens. The contraction reads
/// them instead of a row for every choice.
static Value getRepeatedRows(GroupedContractOp op, Value rows) {
  NamedTensorType indices = op.getIndices().getType();
  while (Operation *source = rows.getDefiningOp()) {
    auto isRepeated = [&](DimAttr dim) {
      return getTensorType(source->getOperand(0)).hasDim(dim.getName()) ||
             indices.hasDim(dim.getName());
    };
    auto widening = dyn_cast<CastOp>(source);
    const bool widens =
        widening && isSameOrWiderFloat(getTensorType(widening.getInput()).getElementType(),
                                       getTensorType(rows).getElementType());
    if (!widens &&
        !(isa<ExpandOp>(source) && llvm::all_of(getTensorType(rows).getDims(), isRepeated)))
      break;
    rows = source->getOperand(0);
  }
  return rows;
}

static LogicalResult flow(GroupedContractOp op, Vjp &v) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  if (op.getTable() == rhs) {
    Value rows = getRepeatedRows(op, v.cotangent());
    v.flowTo(0, [&] { return contractTable(op, rows, rhs, lhs, v); });
    // One of two tensors of rows has each dimension of the indices over which products are summed.
    const bool isSummed = llvm::all_of(op.getIndices().getType().getDims(), [&](DimAttr dim) {
      return llvm::any_of(ValueRange{lhs, rows, rhs},
                          [&](Value value) { return getTensorType(value).hasDim(dim.getName()); });
    });
    v.flowTo(1, [&] { return contractRows(op, lhs, isSummed ? rows : v.cotangent(), rhs, v); });
  } else {
    v.flowTo(0, [&] { return contractTable(op, rhs, v.cotangent(), lhs, v); });
    v.flowTo(1, [&] { return contractTable(op, lhs, v.cotangent(), rhs, v); });
  }
  if (op.getInto())
    v.flowTo(3, [&] { return v.cotangent(); });
  return success();
}

/// Each extreme element receives the cotangent divided by the number of extreme elements, as
/// torch.amax does.
static Value flowToExtremes(ReduceOp op, Vjp &v) {
  Value mask = v.compare(ComparePredicate::EQ, op.getInput(), op.getResult());
  Value ones = v.cast(mask, op.getInput().getType().getElementType());
  Value count = v.fitTo(ones, op.getResult().getType());
  Value fraction = v.div(v.cotangent(), count);
  return v.select(mask, fraction, v.constant(0, op.getInput()));
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
    // A row may receive many updates.
    NamedTensorType type = v.getSumType(op.getInput(), v.cotangent());
    type = type.withElementType(getAccumulationType(type.getElementType()));
    return v.create<ScatterOp>(type, v.cotangent(), op.getIndices(), op.getAlongAttr());
  });
  return success();
}

/// An update receives the cotangent of the element that its index selects.
static LogicalResult flow(ScatterOp op, Vjp &v) {
  if (op.getInto())
    v.flowTo(2, [&] { return v.cotangent(); });
  v.flowTo(0, [&] {
    NamedTensorType table = op.getResult().getType();
    SmallVector<DimAttr> rest;
    for (DimAttr dim : table.getDims())
      if (dim.getName() != op.getAlongAttr())
        rest.push_back(dim);
    auto rows = NamedTensorType::get(getElementType(v.cotangent()), rest);
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

/// The selected values receive the cotangents; their indices are not differentiated.
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

/// Element i is a term of all sums from i on.
static LogicalResult flow(CumulativeSumOp op, Vjp &v) {
  v.flowTo(0, [&] {
    auto sums = v.create<CumulativeSumOp>(v.getTypeLike(op.getInput(), v.cotangent()),
                                          v.cotangent(), op.getAlongAttr(), /*reverse=*/UnitAttr());
    sums.setReverse(!op.getReverse());
    return sums;
  });
  return success();
}

/// Counts of integers have no derivative.
static LogicalResult flow(CumulativeCountOp, Vjp &) {
  return success();
}

void attachTensorVjps(MLIRContext *context) {
  attachVjps<ShardingConstraintOp, StopGradientOp, ContractOp, GroupedContractOp, ReduceOp,
             CheckIndexOp, GatherOp, ScatterOp, RenameOp, SplitOp, MergeOp, SliceOp, PadOp, TopKOp,
             CumulativeSumOp, CumulativeCountOp>(context);
}

} // namespace titan::ir
