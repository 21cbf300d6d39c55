// Chunks of a dimension: chunk k of n has the elements i * n + k, for all i. So each rank has an
// equal part of every chunk, whatever shards the dimension in block order.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/Builders.h"

namespace titan::dist {

/// The type of one of `count` chunks of dimension `dim`.
ir::NamedTensorType getChunkType(ir::NamedTensorType type, int64_t dim, int64_t count);

/// Chunk `index` of `count` of dimension `dim`, a copy.
mlir::Value sliceChunk(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole, int64_t dim,
                       int64_t index, int64_t count);

/// Joins chunks as they are computed.
class ChunkJoin {
public:
  /// `whole` is the type of the joined value.
  ChunkJoin(ir::NamedTensorType whole, int64_t dim, int64_t count)
      : whole(whole), dim(dim), count(count) {}

  /// Appends the next chunk.
  void add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value chunk);
  /// The joined value, after the last chunk.
  mlir::Value finish(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  ir::NamedTensorType whole;
  int64_t dim, count;
  int64_t numAdded = 0;
  mlir::Value joined; ///< with a dimension of chunks after `dim`
};

} // namespace titan::dist
