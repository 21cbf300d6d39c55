// Chunks of a dimension.

#include "dialects/dist/Transforms/Shard/Chunks.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::DimAttr;
using ir::getTensorType;
using ir::NamedTensorType;

static StringAttr getChunkName(NamedTensorType type, int64_t dim) {
  return StringAttr::get(type.getContext(), type.getDims()[dim].getName().getValue() + ".chunk");
}

NamedTensorType dist::getChunkType(NamedTensorType type, int64_t dim, int64_t count) {
  SmallVector<DimAttr> dims(type.getDims());
  dims[dim] = DimAttr::get(type.getContext(), dims[dim].getName(), dims[dim].getSize() / count,
                           dims[dim].getOrigin());
  return NamedTensorType::get(type.getElementType(), dims, type.getSharding());
}

/// The type of chunks with their number as a dimension of `size` after `dim`.
static NamedTensorType getSplitType(NamedTensorType chunk, int64_t dim, int64_t size) {
  MLIRContext *context = chunk.getContext();
  SmallVector<DimAttr> dims(chunk.getDims());
  dims.insert(dims.begin() + dim + 1, DimAttr::get(context, getChunkName(chunk, dim), size));
  ShardingAttr sharding = chunk.getShardingOrReplicated();
  SmallVector<ArrayAttr> axes(sharding.getDimAxes());
  axes.insert(axes.begin() + dim + 1, ArrayAttr::get(context, {}));
  return NamedTensorType::get(chunk.getElementType(), dims, sharding.withDims(axes, 0));
}

Value dist::sliceChunk(OpBuilder &builder, Location loc, Value whole, int64_t dim, int64_t index,
                       int64_t count) {
  const NamedTensorType chunk = getChunkType(getTensorType(whole), dim, count);
  const StringAttr name = chunk.getDims()[dim].getName();
  Value split =
      builder.create<ir::SplitOp>(loc, getSplitType(chunk, dim, count), whole, name.getValue());
  Value slice = builder.create<ir::SliceOp>(loc, getSplitType(chunk, dim, 1), split,
                                            getChunkName(chunk, dim).getValue(), index);
  return builder.create<ir::MergeOp>(loc, chunk, slice, name.getValue());
}

void ChunkJoin::add(OpBuilder &builder, Location loc, Value chunk) {
  const NamedTensorType type = getTensorType(chunk);
  const NamedTensorType split = getSplitType(type, dim, count);
  const StringAttr name = type.getDims()[dim].getName(), chunks = getChunkName(type, dim);
  Value one = builder.create<ir::SplitOp>(loc, getSplitType(type, dim, 1), chunk, name.getValue());
  if (!joined) {
    joined = builder.create<ir::PadOp>(loc, split, one, chunks.getValue(), numAdded);
  } else {
    const auto index = NamedTensorType::get(builder.getI64Type(), {},
                                            ShardingAttr::getReplicated(builder.getContext(), 0));
    Value start = builder.create<ir::ConstantOp>(loc, index, static_cast<double>(numAdded));
    joined = builder.create<ir::InsertSliceOp>(loc, split, one, joined, start, chunks.getValue());
  }
  ++numAdded;
}

Value ChunkJoin::finish(OpBuilder &builder, Location loc) const {
  return builder.create<ir::MergeOp>(loc, whole, joined, whole.getDims()[dim].getName().getValue());
}
