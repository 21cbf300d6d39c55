// The local shape of a sharded tensor.

#include "dialects/dist/IR/DistOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace titan;
using namespace titan::dist;

Degrees dist::getDegrees(MeshOp mesh, int64_t autoDegree) {
  Degrees degrees;
  if (mesh)
    for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>())
      degrees[axis.getName().getValue()] = axis.isAuto() ? autoDegree : axis.getDegree();
  return degrees;
}

int64_t dist::getDivisor(ShardingAttr sharding, int64_t dim, const Degrees &degrees) {
  int64_t shards = 1, divisor = 1;
  for (auto axis : sharding.getDimAxes()[dim].getAsRange<StringAttr>()) {
    if (auto degree = degrees.find(axis.getValue()); degree != degrees.end())
      shards *= degree->second;
    divisor =
        std::lcm(divisor, sharding.getOrder(axis) == ShardOrder::HeadTail ? 2 * shards : shards);
  }
  return divisor;
}

int64_t dist::getDegreeProduct(ArrayAttr axes, const Degrees &degrees) {
  int64_t product = 1;
  for (auto axis : axes.getAsRange<StringAttr>())
    if (auto it = degrees.find(axis.getValue()); it != degrees.end())
      product *= it->second;
  return product;
}

SmallVector<int64_t> dist::getLocalShape(ir::NamedTensorType type, const Degrees &degrees) {
  SmallVector<int64_t> shape = type.getShape();
  ShardingAttr sharding = type.getShardingOrReplicated();
  for (auto [size, axes] : llvm::zip_equal(shape, sharding.getDimAxes()))
    size = llvm::divideCeil(size, getDegreeProduct(axes, degrees));
  if (!sharding.isFlat())
    return shape;
  int64_t elements = 1;
  for (int64_t size : ArrayRef(shape).drop_front(sharding.getFlatFrom()))
    elements *= size;
  shape.truncate(sharding.getFlatFrom());
  shape.push_back(llvm::divideCeil(elements, getDegreeProduct(sharding.getFlatAxes(), degrees)));
  return shape;
}

TensorSharding dist::getTensorSharding(ir::NamedTensorType type, const Degrees &degrees,
                                       function_ref<int64_t(StringRef)> getCoordinate) {
  ShardingAttr sharding = type.getShardingOrReplicated();
  auto getLevels = [&](ArrayAttr axes) {
    std::vector<ShardLevel> levels;
    for (auto axis : axes.getAsRange<StringAttr>())
      if (auto degree = degrees.find(axis.getValue()); degree != degrees.end())
        levels.push_back({degree->second, getCoordinate(axis.getValue()), sharding.getOrder(axis)});
    return levels;
  };
  TensorSharding plain{{}, getLevels(sharding.getFlatAxes()), size_t(sharding.getFlatFrom())};
  for (auto [size, axes] : llvm::zip_equal(type.getShape(), sharding.getDimAxes()))
    plain.dims.push_back({size, getLevels(axes)});
  return plain;
}

int64_t dist::getLocalNumElements(ir::NamedTensorType type, const Degrees &degrees) {
  int64_t product = 1;
  for (int64_t size : getLocalShape(type, degrees))
    product *= size;
  return product;
}

bool dist::isFlatEven(ir::NamedTensorType type, const Degrees &degrees) {
  ShardingAttr sharding = type.getShardingOrReplicated();
  int64_t elements = 1, degree = getDegreeProduct(sharding.getFlatAxes(), degrees);
  for (int64_t dim = sharding.getFlatFrom(); dim < type.getRank(); ++dim) {
    elements *= type.getDims()[dim].getSize();
    degree *= getDegreeProduct(sharding.getDimAxes()[dim], degrees);
  }
  return degree > 0 && elements % degree == 0;
}

bool dist::isRowwiseCollective(ir::NamedTensorType a, ir::NamedTensorType b) {
  ShardingAttr flat = a.getShardingOrReplicated(), whole = b.getShardingOrReplicated();
  if (!flat.isFlat())
    std::swap(flat, whole);
  return flat.isFlat() && flat.getFlatFrom() > 0 && !whole.isFlat() &&
         llvm::equal(flat.getDimAxes(), whole.getDimAxes());
}
