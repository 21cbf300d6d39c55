// Tracks the padding of values.

#include "dialects/dist/Transforms/Shard/PaddedValues.h"
#include "dialects/dist/Transforms/Shard/PaddedDims.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/Reductions.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::DimAttr;
using ir::getTensorType;
using ir::NamedTensorType;

void PaddedValues::add(Value value, NamedTensorType original, llvm::SmallBitVector zero,
                       bool isAlwaysZero) {
  if (value.getType() != original)
    states[value] = {original, std::move(zero), isAlwaysZero};
}

void PaddedValues::addZero(Value value, NamedTensorType original) {
  add(value, original, llvm::SmallBitVector(original.getRank(), true));
}

NamedTensorType PaddedValues::getOriginal(Value value) const {
  auto found = states.find(value);
  return found == states.end() ? getTensorType(value) : found->second.original;
}

bool PaddedValues::isPadded(Value value, int64_t dim) const {
  return getOriginal(value).getDims()[dim] != getTensorType(value).getDims()[dim];
}

llvm::SmallBitVector PaddedValues::getZero(Value value) const {
  auto found = states.find(value);
  return found == states.end() ? llvm::SmallBitVector(getTensorType(value).getRank())
                               : found->second.zero;
}

bool PaddedValues::isZero(Value value, int64_t dim) const {
  if (auto constant = value.getDefiningOp<ir::ConstantOp>())
    return constant.getNumber() == 0;
  return dim >= 0 && getZero(value).test(dim);
}

bool PaddedValues::isAlwaysZero(Value value) const {
  auto found = states.find(value);
  return found == states.end() || found->second.isAlwaysZero;
}

Value PaddedValues::getMasked(Value value, int64_t dim, ReductionKind kind) {
  if (kind == ReductionKind::Sum && isZero(value, dim) && isAlwaysZero(value))
    return value;
  Value &known = masked[{value, dim, static_cast<int>(kind)}];
  if (known)
    return known;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  NamedTensorType type = getTensorType(value);
  DimAttr walked = type.getDims()[dim];
  Type index = builder.getI64Type(), truth = builder.getI1Type();
  auto constant = [&](Type element, double number) -> Value {
    return builder.create<ir::ConstantOp>(loc, NamedTensorType::get(element, {}), number);
  };
  Value position = builder.create<ir::IotaOp>(loc, NamedTensorType::get(index, walked));
  Value size = constant(index, static_cast<double>(getOriginal(value).getDims()[dim].getSize()));
  Value isInside = builder.create<ir::CompareOp>(loc, NamedTensorType::get(truth, walked),
                                                 ir::ComparePredicate::LT, position, size);
  Value identity = constant(type.getElementType(), ir::getNeutral(kind));
  known = builder.create<ir::SelectOp>(loc, type, isInside, value, identity);
  llvm::SmallBitVector zero = getZero(value);
  zero.reset(dim);
  bool isAlways = zero.none() || isAlwaysZero(value);
  if (kind == ReductionKind::Sum)
    zero.set(dim);
  else
    zero.reset();
  Value result = known;
  add(result, getOriginal(value), zero, isAlways);
  return result;
}

Value PaddedValues::getZeroed(Value value) {
  for (int64_t d = 0; d < getTensorType(value).getRank(); ++d)
    if (isPadded(value, d) && !isZero(value, d))
      value = getMasked(value, d, ReductionKind::Sum);
  return value;
}

Value PaddedValues::getSliced(Value value, int64_t dim) {
  Value &known = sliced[{value, dim}];
  if (known)
    return known;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  NamedTensorType original = getOriginal(value);
  NamedTensorType type = setDimLike(getTensorType(value), dim, original);
  Value result = builder.create<ir::SliceOp>(value.getLoc(), type, value,
                                             type.getDims()[dim].getName(), /*offset=*/0);
  known = result;
  add(result, original, getZero(value), isAlwaysZero(value));
  return result;
}

Value PaddedValues::getUnpadded(Value value) {
  for (int64_t d = 0; d < getTensorType(value).getRank(); ++d)
    if (isPadded(value, d))
      value = getSliced(value, d);
  return value;
}
