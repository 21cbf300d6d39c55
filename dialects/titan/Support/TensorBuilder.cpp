// Builder of tensor arithmetic.

#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan::ir;

/// The source location within `loc` without names, or `loc`.
static Location getSourceLoc(Location loc) {
  if (auto fileLoc = loc->findInstanceOf<FileLineColLoc>())
    return fileLoc;
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getChildLoc();
  return loc;
}

Location titan::ir::getGradientLoc(Location origin, Value value) {
  Location source = getSourceLoc(origin);
  auto named = value.getLoc()->findInstanceOf<NameLoc>();
  if (!named || named.getName().empty())
    return source;
  return NameLoc::get(StringAttr::get(value.getContext(), "d_" + named.getName().getValue()),
                      source);
}

Value TensorBuilder::constant(double value, Value like) {
  auto type = NamedTensorType::get(getTensorType(like).getElementType(), {});
  return create<ConstantOp>(type, value);
}

Value TensorBuilder::zeros(NamedTensorType type) {
  auto scalar = NamedTensorType::get(type.getElementType(), {});
  Value zero = create<ConstantOp>(scalar, 0.0);
  return fitTo(zero, type);
}

Value TensorBuilder::neg(Value value) {
  return create<NegOp>(value);
}

Value TensorBuilder::add(Value lhs, Value rhs) {
  return create<AddOp>(lhs, rhs);
}

Value TensorBuilder::sub(Value lhs, Value rhs) {
  return create<SubOp>(lhs, rhs);
}

Value TensorBuilder::mul(Value lhs, Value rhs) {
  return create<MulOp>(lhs, rhs);
}

Value TensorBuilder::div(Value lhs, Value rhs) {
  return create<DivOp>(lhs, rhs);
}

Value TensorBuilder::scale(Value value, double factor) {
  return mul(value, constant(factor, value));
}

Value TensorBuilder::compare(ComparePredicate predicate, Value lhs, Value rhs) {
  return create<CompareOp>(predicate, lhs, rhs);
}

Value TensorBuilder::select(Value condition, Value whenTrue, Value whenFalse) {
  return create<SelectOp>(condition, whenTrue, whenFalse);
}

Value TensorBuilder::cast(Value value, Type elementType, bool roundBeforeReduce) {
  NamedTensorType type = getTensorType(value);
  if (type.getElementType() == elementType)
    return value;
  roundBeforeReduce &=
      isSameOrWiderFloat(elementType, type.getElementType()); // otherwise nothing is rounded
  return create<CastOp>(value, elementType, roundBeforeReduce);
}

Value TensorBuilder::fitTo(Value value, NamedTensorType type, bool roundBeforeReduce) {
  SmallVector<DimAttr> common;
  bool hasAll = true;
  for (DimAttr dim : type.getDims())
    getTensorType(value).hasDim(dim.getName()) ? common.push_back(dim) : void(hasAll = false);
  if (static_cast<int64_t>(common.size()) < getTensorType(value).getRank()) {
    Type element = getWider(getTensorType(value).getElementType(), type.getElementType());
    value =
        create<ReduceOp>(NamedTensorType::get(element, common), dist::ReductionKind::Sum, value);
  }
  value = cast(value, type.getElementType(), roundBeforeReduce);
  if (hasAll && getTensorType(value).getDims() == type.getDims())
    return value;
  return create<ExpandOp>(type, value);
}

Value TensorBuilder::addStart(Value indices, Value start) {
  SmallVector<DimAttr> dims(getTensorType(start).getDims());
  llvm::append_range(dims, getTensorType(indices).getDims());
  return create<AddOp>(NamedTensorType::get(getTensorType(indices).getElementType(), dims), indices,
                       start);
}

Value TensorBuilder::sliceAt(Value value, DimAttr range, Value start) {
  NamedTensorType type = getTensorType(value);
  const int64_t at = type.findDimIndex(range.getName());
  MLIRContext *context = value.getContext();
  SmallVector<DimAttr> whole(type.getDims()), sliced(type.getDims());
  sliced[at] = range;
  whole[at] = DimAttr::get(context, StringAttr::get(context, range.getName().getValue() + ".whole"),
                           whole[at].getSize(), range.getName());
  Value renamed = create<RenameOp>(NamedTensorType::get(type.getElementType(), whole), value);
  Value positions =
      create<IotaOp>(NamedTensorType::get(getTensorType(start).getElementType(), range));
  sliced.insert(sliced.begin(), getTensorType(start).getDims().begin(),
                getTensorType(start).getDims().end());
  return create<GatherOp>(NamedTensorType::get(type.getElementType(), sliced), renamed,
                          addStart(positions, start), whole[at].getName());
}
