// Constraints and queries of the tensor type.

#include "dialects/titan/IR/Titan.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

LogicalResult NamedTensorType::verify(function_ref<InFlightDiagnostic()> emitError, Type,
                                      ArrayRef<DimAttr> dims, dist::ShardingAttr sharding) {
  llvm::DenseSet<StringAttr> names;
  for (DimAttr dim : dims) {
    if (!names.insert(dim.getName()).second)
      return emitError() << "(C1) dimension " << dim.getName() << " occurs twice";
    if (dim.getSize() <= 0)
      return emitError() << "(C2) dimension " << dim.getName() << " has size " << dim.getSize();
  }
  if (sharding && sharding.getDimAxes().size() != dims.size())
    return emitError() << "(C3) sharding of " << sharding.getDimAxes().size()
                       << " dimensions on a tensor of " << dims.size();
  return success();
}

int64_t NamedTensorType::findDimIndex(StringAttr name) const {
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (dim.getName() == name)
      return i;
  return -1;
}

int64_t NamedTensorType::getNumElements() const {
  int64_t product = 1;
  for (DimAttr dim : getDims())
    product *= dim.getSize();
  return product;
}

SmallVector<int64_t> NamedTensorType::getShape() const {
  return llvm::map_to_vector(getDims(), [](DimAttr dim) { return dim.getSize(); });
}

NamedTensorType NamedTensorType::withSharding(dist::ShardingAttr sharding) const {
  return get(getContext(), getElementType(), getDims(), sharding);
}

NamedTensorType NamedTensorType::withElementType(Type type) const {
  return get(getContext(), type, getDims(), getSharding());
}

bool NamedTensorType::equalsUpToSharding(NamedTensorType other) const {
  return withSharding({}) == other.withSharding({});
}

dist::ShardingAttr NamedTensorType::getShardingOrReplicated() const {
  return getSharding() ? getSharding() : dist::ShardingAttr::getReplicated(getContext(), getRank());
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

NamedTensorType titan::ir::joinTypes(ValueRange operands) {
  auto type = cast<NamedTensorType>(operands.back().getType());
  for (Value operand : llvm::reverse(operands.drop_back()))
    type = joinTypes(cast<NamedTensorType>(operand.getType()), type);
  return type;
}
