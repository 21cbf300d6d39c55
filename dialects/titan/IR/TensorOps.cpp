// Constraints of contraction, reduction and indexing.

#include "base/kernels/SumBlocks.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/Starts.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace titan::ir;

#define GET_OP_CLASSES
#include "dialects/titan/IR/TensorOps.cpp.inc"

/// True if `type` has a dimension with the name and size of `dim`.
static bool has(NamedTensorType type, DimAttr dim) {
  int64_t i = type.findDimIndex(dim.getName());
  return i >= 0 && type.getDims()[i].getSize() == dim.getSize();
}

LogicalResult ShardingConstraintOp::verify() {
  if (!getInput().getType().equalsUpToSharding(getResult().getType()))
    return emitOpError("(C1) operand and result differ: ")
           << getInput().getType() << " and " << getResult().getType();
  return success();
}

LogicalResult StopGradientOp::verify() {
  if (!getInput().getType().equalsUpToSharding(getResult().getType()))
    return emitOpError("(C1) operand and result differ: ")
           << getInput().getType() << " and " << getResult().getType();
  return success();
}

Value titan::ir::getAccumulator(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<ScatterOp, ContractOp, GroupedContractOp, InsertSliceOp>(
          [](auto op) { return op.getInto(); })
      .Default(Value());
}

/// `into` has the dimensions and the element type of the result.
static bool isAccumulatorOf(Value into, NamedTensorType result) {
  auto type = into ? cast<NamedTensorType>(into.getType()) : result;
  return type.getDims() == result.getDims() && type.getElementType() == result.getElementType();
}

LogicalResult ContractOp::verify() {
  NamedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(),
                  result = getResult().getType();
  for (DimAttr dim : result.getDims())
    if (!has(lhs, dim) && !has(rhs, dim))
      return emitOpError("(C1) no operand has the result's dimension ") << dim;
  for (auto [one, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
    for (DimAttr dim : one.getDims())
      if (!has(result, dim) && !has(other, dim))
        return emitOpError("(C2) only one operand has dimension ")
               << dim.getName() << ", which the result lacks";
  if (lhs.getElementType().isInteger(1))
    return emitOpError("(C5) a sum is of numbers, not of booleans: cast them first");
  if (lhs.getElementType() != rhs.getElementType() ||
      !isSameOrWiderFloat(lhs.getElementType(), result.getElementType()))
    return emitOpError(
               "(C3) expected operands of one element type and a result of the same or a wider "
               "one, got ")
           << lhs.getElementType() << ", " << rhs.getElementType() << " and "
           << result.getElementType();
  if (!isAccumulatorOf(getInto(), result))
    return emitOpError("(C4) `into` is ") << getInto().getType() << ", the result " << result;
  return success();
}

LogicalResult ReduceOp::verify() {
  NamedTensorType input = getInput().getType(), result = getResult().getType();
  if (isAccumulation(*this) && input.getElementType().isInteger(1))
    return emitOpError("(C3) a sum is of numbers, not of booleans: cast them first");
  for (DimAttr dim : result.getDims())
    if (!has(input, dim))
      return emitOpError("(C1) the operand lacks the result's dimension ") << dim.getName();
  bool fits = isAccumulation(*this)
                  ? isSameOrWiderFloat(input.getElementType(), result.getElementType())
                  : input.getElementType() == result.getElementType();
  if (!fits)
    return emitOpError("(C2) element types differ: ")
           << input.getElementType() << " and " << result.getElementType();
  return success();
}

/// Checks gather and scatter: `table` has the dimension `along`, `rows` and `indices` lack it.
/// `covered` is `table` or `rows`; the other one and `indices` have its remaining dimensions.
static LogicalResult verifyIndexing(Operation *op, StringAttr along, NamedTensorType table,
                                    NamedTensorType indices, NamedTensorType rows,
                                    NamedTensorType covered) {
  if (!table.hasDim(along) || indices.hasDim(along) || rows.hasDim(along))
    return op->emitOpError("(C1) dimension ")
           << along << " must be one of " << table << " and of nothing else";
  NamedTensorType other = covered == table ? rows : table;
  for (DimAttr dim : covered.getDims())
    if (dim.getName() != along && !has(other, dim) && !has(indices, dim))
      return op->emitOpError("(C2) dimension ") << dim.getName() << " is in no operand";
  if (!indices.getElementType().isInteger(64))
    return op->emitOpError("(C3) expected indices of i64, got ") << indices.getElementType();
  return success();
}

LogicalResult GatherOp::verify() {
  return verifyIndexing(*this, getAlongAttr(), getInput().getType(), getIndices().getType(),
                        getResult().getType(), getResult().getType());
}

LogicalResult ScatterOp::verify() {
  Type updates = getUpdates().getType().getElementType(),
       result = getResult().getType().getElementType();
  if (!isSameOrWiderFloat(updates, result))
    return emitOpError("(C4) element types differ: ") << updates << " and " << result;
  if (!isAccumulatorOf(getInto(), getResult().getType()))
    return emitOpError("(C5) `into` is ")
           << getInto().getType() << ", the result " << getResult().getType();
  return verifyIndexing(*this, getAlongAttr(), getResult().getType(), getIndices().getType(),
                        getUpdates().getType(), getResult().getType());
}

bool ScatterOp::isOneHot() {
  auto isInResult = [&](DimAttr dim) { return getResult().getType().hasDim(dim.getName()); };
  return !getInto() && llvm::all_of(getUpdates().getType().getDims(), isInResult) &&
         llvm::all_of(getIndices().getType().getDims(), isInResult);
}

Value GroupedContractOp::getTable() {
  return getRhs().getType().hasDim(getAlongAttr()) ? Value(getRhs()) : Value(getResult());
}

Value GroupedContractOp::getOtherRows() {
  return getTable() == getRhs() ? Value(getResult()) : Value(getRhs());
}

bool GroupedContractOp::sumsIndices() {
  return getTable() == getRhs() && llvm::any_of(getIndices().getType().getDims(), [&](DimAttr dim) {
           return !getResult().getType().hasDim(dim.getName());
         });
}

SmallVector<DimAttr> GroupedContractOp::getRowDims() {
  auto table = cast<NamedTensorType>(getTable().getType()),
       other = cast<NamedTensorType>(getOtherRows().getType());
  NamedTensorType indices = getIndices().getType();
  SmallVector<DimAttr> dims;
  llvm::SmallDenseSet<StringAttr> seen;
  for (NamedTensorType type : {other, indices, NamedTensorType(getLhs().getType())})
    for (DimAttr dim : type.getDims())
      if ((indices.hasDim(dim.getName()) || !table.hasDim(dim.getName())) &&
          seen.insert(dim.getName()).second)
        dims.push_back(dim);
  return dims;
}

SmallVector<DimAttr> GroupedContractOp::getTableDims(NamedTensorType rows) {
  SmallVector<DimAttr> dims;
  for (DimAttr dim : cast<NamedTensorType>(getTable().getType()).getDims())
    if (rows.hasDim(dim.getName()) && !getIndices().getType().hasDim(dim.getName()))
      dims.push_back(dim);
  return dims;
}

/// (C2), (C3) and (C5): the dimensions of a grouped contraction.
static LogicalResult verifyGroupedDims(GroupedContractOp op) {
  NamedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType(),
                  indices = op.getIndices().getType(), result = op.getResult().getType();
  StringAttr along = op.getAlongAttr();
  for (DimAttr dim : result.getDims()) {
    if (dim.getName() != along && !has(lhs, dim) && !has(rhs, dim) && !has(indices, dim))
      return op.emitOpError("(C2) no operand has the result's dimension ") << dim;
    if (lhs.hasDim(dim.getName()) && rhs.hasDim(dim.getName()) && !has(indices, dim))
      return op.emitOpError("(C5) dimension ")
             << dim.getName() << " of both operands and the result is none of the indices";
  }
  for (NamedTensorType type : {lhs, rhs, indices})
    for (DimAttr dim : type.getDims())
      if (dim.getName() != along && !has(result, dim) &&
          has(lhs, dim) + has(rhs, dim) + has(indices, dim) < 2)
        return op.emitOpError("(C3) only one operand has dimension ")
               << dim.getName() << ", which the result lacks";
  return success();
}

LogicalResult GroupedContractOp::verify() {
  NamedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(),
                  result = getResult().getType();
  StringAttr along = getAlongAttr();
  if (rhs.hasDim(along) == result.hasDim(along) || lhs.hasDim(along) ||
      getIndices().getType().hasDim(along))
    return emitOpError("(C1) dimension ")
           << along
           << " must be one of either the right operand or the result, and of nothing else";
  if (failed(verifyGroupedDims(*this)))
    return failure();
  if (sumsIndices() && getAccumulationType(result.getElementType()) != result.getElementType())
    return emitOpError("(C4) the result sums over indices, so it cannot have elements of ")
           << result.getElementType();
  Type element = lhs.getElementType();
  if (!isa<FloatType>(element) || element != rhs.getElementType() ||
      !isSameOrWiderFloat(element, result.getElementType()))
    return emitOpError("(C6) expected operands of one floating-point type and a result of the same "
                       "or a wider one, got ")
           << element << ", " << rhs.getElementType() << " and " << result.getElementType();
  if (!getIndices().getType().getElementType().isInteger(64))
    return emitOpError("(C7) expected indices of i64, got ")
           << getIndices().getType().getElementType();
  if (!isAccumulatorOf(getInto(), result))
    return emitOpError("(C8) `into` is ") << getInto().getType() << ", the result " << result;
  return success();
}

LogicalResult CheckIndexOp::verify() {
  NamedTensorType input = getInput().getType(), result = getResult().getType();
  if (!input.equalsUpToSharding(result) || !input.getElementType().isInteger(64))
    return emitOpError("(C1) expected equal types of i64, got ") << input << " and " << result;
  return success();
}

bool ScatterOp::hasFewTerms() {
  llvm::SmallDenseMap<StringAttr, int64_t> summed;
  for (NamedTensorType type : {getUpdates().getType(), getIndices().getType()})
    for (DimAttr dim : type.getDims())
      if (!getResult().getType().hasDim(dim.getName()))
        summed[dim.getName()] = dim.getSize();
  int64_t terms = 1;
  for (auto [name, size] : summed)
    terms *= size;
  return terms <= kSumBlock;
}

LogicalResult RenameOp::verify() {
  NamedTensorType input = getInput().getType(), result = getResult().getType();
  if (input.getShape() != result.getShape() || input.getElementType() != result.getElementType())
    return emitOpError("(C1) sizes differ: ") << input << " and " << result;
  return success();
}

/// `fine` is `coarse` with dimension `dim` replaced by one or more dimensions.
static LogicalResult verifyRefinement(Operation *op, StringAttr dim, NamedTensorType coarse,
                                      NamedTensorType fine) {
  int64_t at = coarse.findDimIndex(dim), extra = fine.getRank() - coarse.getRank();
  if (at < 0 || extra < 0)
    return op->emitOpError("(C1) no dimension ") << dim << " in " << coarse;
  int64_t product = 1;
  for (int64_t i = at; i <= at + extra; ++i)
    product *= fine.getDims()[i].getSize();
  bool sameBefore = coarse.getDims().take_front(at) == fine.getDims().take_front(at);
  bool sameAfter = coarse.getDims().drop_front(at + 1) == fine.getDims().drop_front(at + extra + 1);
  if (!sameBefore || !sameAfter || product != coarse.getDims()[at].getSize())
    return op->emitOpError("(C1) ") << fine << " is not " << coarse << " with " << dim << " split";
  return success();
}

LogicalResult SplitOp::verify() {
  return verifyRefinement(*this, getDimAttr(), getInput().getType(), getResult().getType());
}

LogicalResult MergeOp::verify() {
  return verifyRefinement(*this, getDimAttr(), getResult().getType(), getInput().getType());
}

/// `slice` is `whole` with dimension number `at` restricted to a range that starts at `offset`.
static LogicalResult verifyRange(Operation *op, int64_t at, int64_t offset, NamedTensorType whole,
                                 NamedTensorType slice) {
  if (at < 0 || whole.getRank() != slice.getRank())
    return op->emitOpError("(C1) no such dimension in ") << whole;
  if (offset < 0 || offset + slice.getDims()[at].getSize() > whole.getDims()[at].getSize())
    return op->emitOpError("(C1) the range starting at ")
           << offset << " of size " << slice.getDims()[at].getSize() << " does not fit dimension "
           << whole.getDims()[at];
  for (int64_t i = 0; i < whole.getRank(); ++i)
    if (i != at && whole.getDims()[i] != slice.getDims()[i])
      return op->emitOpError("(C2) dimension ") << whole.getDims()[i].getName() << " changes";
  return success();
}

LogicalResult SliceOp::verify() {
  return verifyRange(*this, getInput().getType().findDimIndex(getDimAttr()), getOffset(),
                     getInput().getType(), getResult().getType());
}

LogicalResult PadOp::verify() {
  return verifyRange(*this, getResult().getType().findDimIndex(getDimAttr()), getOffset(),
                     getResult().getType(), getInput().getType());
}

LogicalResult InsertSliceOp::verify() {
  NamedTensorType slice = getInput().getType(), whole = getResult().getType(),
                  start = getStart().getType();
  const int64_t at = whole.findDimIndex(getDimAttr());
  if (at < 0 || !getInto().getType().equalsUpToSharding(whole))
    return emitOpError("(C1) expected equal tensors with the dimension ")
           << getDimAttr() << ", got " << getInto().getType() << " and " << whole;
  bool fits =
      slice.getElementType() == whole.getElementType() && slice.getRank() == whole.getRank();
  for (int64_t i = 0; fits && i < whole.getRank(); ++i)
    fits = i == at ? slice.getDims()[i].getName() == getDimAttr() &&
                         slice.getDims()[i].getSize() <= whole.getDims()[i].getSize()
                   : slice.getDims()[i] == whole.getDims()[i];
  if (!fits)
    return emitOpError("(C2) ") << slice << " is not a range of " << getDimAttr() << " of "
                                << whole;
  if (!isStart(start, whole, getDimAttr()))
    return emitOpError(
               "(C3) the start must be an i64, one or one per index of other dimensions, got ")
           << start;
  return success();
}
