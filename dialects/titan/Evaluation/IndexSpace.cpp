// Iteration over tensors by dimension names.

#include "dialects/titan/Evaluation/IndexSpace.h"

#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

std::vector<LocalDim> ir::getLocalDims(NamedTensorType type, const HostTensor &tensor,
                                       const RankShards &shards) {
  std::vector<LocalDim> dims;
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  int64_t named = sharding.isFlat() ? sharding.getFlatFrom() : type.getRank();
  for (int64_t i = 0; i < named; ++i)
    dims.push_back({type.getDims()[i].getName().str(), tensor.shape[i], shards.getShard(type, i)});
  if (sharding.isFlat()) {
    std::string name = "flat";
    for (auto axis : sharding.getFlatAxes().getAsRange<StringAttr>())
      name.append(1, ' ').append(axis.getValue());
    dims.push_back({name, tensor.shape.back(), DimShard::whole(tensor.shape.back())});
  }
  return dims;
}

int64_t ir::getStride(const HostTensor &tensor, int64_t dim) {
  int64_t stride = 1;
  for (size_t i = dim + 1; i < tensor.shape.size(); ++i)
    stride *= tensor.shape[i];
  return stride;
}

/// `[0, 2)`, or `[0, 2) with [6, 8)`.
static std::string print(const DimShard &shard) {
  std::string text;
  for (int k = 0; k < shard.intervalCount(); ++k) {
    auto [start, length] = shard.interval(k);
    text +=
        (k ? " with [" : "[") + std::to_string(start) + ", " + std::to_string(start + length) + ")";
  }
  return text;
}

/// `starts` has one number for each index of its dimensions, such as one per slot of a batch, which
/// are dimensions of `value`, too. Without `starts`, all chunks start at 0.
ChunkStarts::ChunkStarts(Value starts, const HostTensor *startTensor, Value value,
                         const HostTensor &tensor)
    : startTensor(starts ? startTensor : nullptr) {
  if (!starts)
    return;
  const NamedTensorType startType = getTensorType(starts), valueType = getTensorType(value);
  for (auto [i, dim] : llvm::enumerate(startType.getDims())) {
    const int64_t at = valueType.findDimIndex(dim.getName());
    dims.push_back({getStride(tensor, at), tensor.shape[at], getStride(*startTensor, i)});
  }
}

int64_t ChunkStarts::at(int64_t element) const {
  if (!startTensor)
    return 0;
  int64_t index = 0;
  for (const Dim &dim : dims)
    index += element / dim.stride % dim.size * dim.startStride;
  return static_cast<int64_t>(startTensor->data[index]);
}

LogicalResult IndexSpace::join(Value value, const HostTensor &tensor) {
  auto type = cast<NamedTensorType>(value.getType());
  for (const LocalDim &dim : getLocalDims(type, tensor, *shards)) {
    auto known = llvm::find_if(dims, [&](const LocalDim &d) { return d.name == dim.name; });
    if (known == dims.end()) {
      dims.push_back(dim);
      continue;
    }
    if (known->size != dim.size || known->shard != dim.shard)
      return op->emitOpError("matches different shards of dimension \"")
             << dim.name << "\": " << print(known->shard) << " and " << print(dim.shard);
  }
  return success();
}

std::vector<int64_t> IndexSpace::getStrides(Value value, const HostTensor &tensor) const {
  auto type = cast<NamedTensorType>(value.getType());
  std::vector<LocalDim> tensorDims = getLocalDims(type, tensor, *shards);
  std::vector<int64_t> strides(dims.size(), 0);
  int64_t stride = 1;
  for (size_t i = tensorDims.size(); i-- > 0; stride *= tensorDims[i].size)
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d].name == tensorDims[i].name)
        strides[d] = stride;
  return strides;
}

int64_t IndexSpace::getNumElements() const {
  int64_t product = 1;
  for (const LocalDim &dim : dims)
    product *= dim.size;
  return product;
}

LogicalResult ir::checkWhole(Operation *op, Value value, const HostTensor &tensor, StringAttr dim) {
  auto type = cast<NamedTensorType>(value.getType());
  int64_t at = type.findDimIndex(dim);
  if (type.getShardingOrReplicated().isFlat() || tensor.shape[at] != type.getDims()[at].getSize())
    return op->emitOpError("needs dimension ") << dim << " whole on every rank";
  return success();
}
