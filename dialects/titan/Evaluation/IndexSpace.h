// Iteration over tensors by dimension names.
//
// The joint index space of several tensors: every named dimension once, in order of first
// appearance, with local sizes. A tensor that lacks a dimension has stride 0 along it; broadcasting
// and summation by name need nothing else.
//
// A flat tensor has one dimension for its shard below the stacked dimensions. The name of that
// dimension lists the axes, so that different shardings never join.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::ir {

/// A dimension of a shard: its local size and its local-to-global index.
struct LocalDim {
  std::string name;
  int64_t size;
  DimShard shard;
};

/// The dimensions of `tensor`, which has the local shape of `type`.
std::vector<LocalDim> getLocalDims(NamedTensorType type, const HostTensor &tensor,
                                   const RankShards &shards);

/// Elements between neighbours along dimension number `dim` of a row-major tensor.
int64_t getStride(const HostTensor &tensor, int64_t dim);

/// Emits an error at `op` unless dimension `dim` of `value` is unsharded.
mlir::LogicalResult checkWhole(mlir::Operation *op, mlir::Value value, const HostTensor &tensor,
                               mlir::StringAttr dim);

/// The first index of the chunk to which an element of a tensor belongs
/// (dialects/titan/IR/Starts.h).
class ChunkStarts {
public:
  /// `starts`: the value with the elements `startTensor`; null for chunks that begin at 0.
  /// `tensor`: the local shard of `value`. `startTensor` must outlive the object.
  ChunkStarts(mlir::Value starts, const HostTensor *startTensor, mlir::Value value,
              const HostTensor &tensor);
  /// The start for element number `element` of the tensor.
  int64_t at(int64_t element) const;

private:
  struct Dim {
    int64_t stride, size, startStride; ///< stride in the tensor, local size, stride in the starts
  };
  const HostTensor *startTensor; ///< null: chunks begin at 0
  std::vector<Dim> dims;
};

/// The joint index space of tensors of one operation.
class IndexSpace {
public:
  IndexSpace(mlir::Operation *op, const RankShards &shards) : op(op), shards(&shards) {}

  /// Adds the dimensions of a tensor. Emits an error at the operation if another tensor has a
  /// different shard of a dimension.
  mlir::LogicalResult join(mlir::Value value, const HostTensor &tensor);

  /// The stride of the tensor along each dimension of the space; 0 if it lacks the dimension.
  std::vector<int64_t> getStrides(mlir::Value value, const HostTensor &tensor) const;

  int64_t getRank() const { return dims.size(); }
  const LocalDim &getDim(int64_t i) const { return dims[i]; }
  int64_t getNumElements() const;

  /// Calls visit(offsets) at every index of the space, row-major. strides[t] are those of tensor t
  /// (`getStrides`); offsets[t] is the offset of its element.
  template <typename Visit>
  void walk(const std::vector<std::vector<int64_t>> &strides, Visit visit) const;

private:
  mlir::Operation *op;
  const RankShards *shards;
  std::vector<LocalDim> dims;
};

template <typename Visit>
void IndexSpace::walk(const std::vector<std::vector<int64_t>> &strides, Visit visit) const {
  std::vector<int64_t> index(dims.size(), 0), offsets(strides.size(), 0);
  for (int64_t left = getNumElements(); left > 0; --left) {
    visit(offsets);
    for (size_t d = dims.size(); d-- > 0;) {
      bool wraps = ++index[d] == dims[d].size;
      for (size_t t = 0; t < strides.size(); ++t)
        offsets[t] += wraps ? strides[t][d] * (1 - dims[d].size) : strides[t][d];
      if (!wraps)
        break;
      index[d] = 0;
    }
  }
}

} // namespace titan::ir
