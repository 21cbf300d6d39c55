//===- TensorBuilder.cpp - Builder of tensor arithmetic -------------------===//

#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TypeOf.h"

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

NamedTensorType titan::ir::joinTypes(NamedTensorType lhs, NamedTensorType rhs) {
  auto lacks = [](NamedTensorType type) {
    return [type](DimAttr dim) { return !type.hasDim(dim.getName()); };
  };
  if (llvm::none_of(lhs.getDims(), lacks(rhs)))
    return rhs.getRank() > lhs.getRank() ? rhs.withElementType(lhs.getElementType()) : lhs;
  SmallVector<DimAttr> dims(lhs.getDims());
  llvm::copy_if(rhs.getDims(), std::back_inserter(dims), lacks(lhs));
  return NamedTensorType::get(lhs.getElementType(), dims);
}

/// The operand of an expansion, if `other` has all dimensions that the expansion adds; else
/// `value`.
static Value skipExpand(Value value, Value other) {
  auto expand = value.getDefiningOp<ExpandOp>();
  if (!expand)
    return value;
  NamedTensorType input = expand.getInput().getType(), otherType = typeOf(other);
  for (DimAttr dim : typeOf(value).getDims())
    if (!input.hasDim(dim.getName()) && !otherType.hasDim(dim.getName()))
      return value;
  return expand.getInput();
}

template <typename OpT> Value TensorBuilder::join(Value lhs, Value rhs) {
  NamedTensorType type = joinTypes(typeOf(lhs), typeOf(rhs));
  Value left = skipExpand(lhs, rhs);
  return create<OpT>(type, left, skipExpand(rhs, left));
}

static bool isOne(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getNumber() == 1;
}

Value TensorBuilder::constant(double value, Value like) {
  auto type = NamedTensorType::get(typeOf(like).getElementType(), {});
  return create<ConstantOp>(type, value);
}

Value TensorBuilder::zeros(NamedTensorType type) {
  auto scalar = NamedTensorType::get(type.getElementType(), {});
  Value zero = create<ConstantOp>(scalar, 0.0);
  return fitTo(zero, type);
}

Value TensorBuilder::neg(Value value) {
  return create<NegOp>(value.getType(), value);
}

Value TensorBuilder::add(Value lhs, Value rhs) {
  return join<AddOp>(lhs, rhs);
}

Value TensorBuilder::sub(Value lhs, Value rhs) {
  return join<SubOp>(lhs, rhs);
}

Value TensorBuilder::mul(Value lhs, Value rhs) {
  if (isOne(skipExpand(lhs, rhs)))
    return rhs;
  if (isOne(skipExpand(rhs, lhs)))
    return lhs;
  return join<MulOp>(lhs, rhs);
}

Value TensorBuilder::div(Value lhs, Value rhs) {
  return join<DivOp>(lhs, rhs);
}

Value TensorBuilder::scale(Value value, double factor) {
  return mul(value, constant(factor, value));
}

Value TensorBuilder::compare(ComparePredicate predicate, Value lhs, Value rhs) {
  NamedTensorType type = joinTypes(typeOf(lhs), typeOf(rhs)).withElementType(builder.getI1Type());
  return create<CompareOp>(type, predicate, lhs, rhs);
}

Value TensorBuilder::select(Value condition, Value whenTrue, Value whenFalse) {
  NamedTensorType choices = joinTypes(typeOf(whenTrue), typeOf(whenFalse));
  NamedTensorType type = joinTypes(typeOf(condition), choices);
  return create<SelectOp>(type.withElementType(choices.getElementType()), condition, whenTrue,
                          whenFalse);
}

Value TensorBuilder::cast(Value value, Type elementType, bool roundBeforeReduce) {
  NamedTensorType type = typeOf(value);
  if (type.getElementType() == elementType)
    return value;
  roundBeforeReduce &=
      isSameOrWiderFloat(elementType, type.getElementType()); // otherwise nothing is rounded
  return create<CastOp>(type.withElementType(elementType), value, roundBeforeReduce);
}

Value TensorBuilder::fitTo(Value value, NamedTensorType type, bool roundBeforeReduce) {
  SmallVector<DimAttr> common;
  bool hasAll = true;
  for (DimAttr dim : type.getDims())
    typeOf(value).hasDim(dim.getName()) ? common.push_back(dim) : void(hasAll = false);
  if (static_cast<int64_t>(common.size()) < typeOf(value).getRank()) {
    Type element = getWider(typeOf(value).getElementType(), type.getElementType());
    value =
        create<ReduceOp>(NamedTensorType::get(element, common), dist::ReductionKind::Sum, value);
  }
  value = cast(value, type.getElementType(), roundBeforeReduce);
  if (hasAll && typeOf(value).getDims() == type.getDims())
    return value;
  return create<ExpandOp>(type, value);
}
