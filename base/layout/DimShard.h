// A rank's shard of one dimension, and its local-to-global index. Emitted code, on processors and
// devices, computes positions with this index; ShardLayout.h applies it to whole tensors.
#pragma once

#include <cstdint>
#include <initializer_list>

#ifdef __CUDACC__
#define TITAN_LAYOUT __host__ __device__ constexpr
#else
#define TITAN_LAYOUT constexpr
#endif

namespace titan {

/// Which elements of a dimension the shards of an axis of degree n contain.
enum class ShardOrder : uint8_t {
  Block,    ///< shard r: the r-th of n equal blocks
  HeadTail, ///< shard r: blocks r and 2n - 1 - r of 2n equal blocks, in this order
};

/// One axis of a dimension's sharding: its degree, the rank's coordinate on it, and its order.
struct ShardLevel {
  int64_t degree = 1, coordinate = 0;
  ShardOrder order = ShardOrder::Block;
};

/// A range of global indices.
struct IndexInterval {
  int64_t start, length;
};

/// The global indices of a shard: one interval, or two for head-tail order. The index of local
/// element i increases with i. Elements beyond the end of the dimension are padding.
///
/// Under a causal mask, the work of position p grows with p. In head-tail order each shard has a
/// cheap block and an expensive one, so that all shards have the same work: the load balancing of
/// context parallelism in Megatron-LM (get_batch_on_this_cp_rank) and PyTorch
/// (torch.distributed.tensor.experimental._attention, _load_balancer).
struct DimShard {
  int64_t start = 0;      ///< the global index of local element 0
  int64_t length = 0;     ///< elements
  int64_t split = length; ///< the local index at which the second interval begins; length: none
  int64_t gap = 0;        ///< global indices between the intervals

  /// A whole dimension.
  static TITAN_LAYOUT DimShard whole(int64_t size) { return {0, size, size, 0}; }

  TITAN_LAYOUT int64_t toGlobal(int64_t local) const {
    return start + local + (local < split ? 0 : gap);
  }
  /// The local index of a global one; -1 if another shard has it.
  TITAN_LAYOUT int64_t toLocal(int64_t global) const {
    const int64_t at = global - start;
    if (at < split)
      return at < 0 ? -1 : at;
    return at - gap < split || at - gap >= length ? -1 : at - gap;
  }
  /// The least local index whose global index is at least `global`; `length` if there is none.
  TITAN_LAYOUT int64_t lowerBound(int64_t global) const {
    const int64_t at = global - start;
    const int64_t local = at < split ? at : at - gap < split ? split : at - gap;
    return local < 0 ? 0 : local > length ? length : local;
  }

  TITAN_LAYOUT int intervalCount() const { return split < length ? 2 : 1; }
  TITAN_LAYOUT IndexInterval interval(int i) const {
    return i == 0 ? IndexInterval{start, split}
                  : IndexInterval{start + split + gap, length - split};
  }

  /// The shard of this shard at `coordinate` of `degree`. Blocks have ceil(length / degree)
  /// elements. Head-tail order needs one interval, whose length 2 * degree divides.
  TITAN_LAYOUT DimShard cut(ShardLevel level) const {
    if (level.order == ShardOrder::HeadTail) {
      const int64_t block = length / (2 * level.degree);
      const int64_t between = (2 * level.degree - 2 - 2 * level.coordinate) * block;
      return {start + level.coordinate * block, 2 * block, between ? block : 2 * block, between};
    }
    const int64_t size = (length + level.degree - 1) / level.degree;
    const int64_t first = level.coordinate * size;
    if (first >= split)
      return {start + gap + first, size, size, 0};
    if (first + size <= split || gap == 0)
      return {start + first, size, size, 0};
    return {start + first, size, split - first, gap};
  }
  constexpr bool operator==(const DimShard &) const = default; // nvcc refuses annotations here
};

/// The shard of a dimension of `size` elements over axes from outer to inner. Consecutive axes of
/// block order act as one axis, the last one varying fastest. At most one axis has head-tail order.
/// With `back`, the shard of another rank: the one `back` positions before this rank, cyclically,
/// in the group over all axes. A ring of permutes delivers that shard after `back` steps.
TITAN_LAYOUT DimShard getShard(int64_t size, const ShardLevel *levels, int count,
                               int64_t back = 0) {
  int64_t ranks = 1, rank = 0;
  for (int i = 0; i < count; ++i) {
    ranks *= levels[i].degree;
    rank = rank * levels[i].degree + levels[i].coordinate;
  }
  rank = ((rank - back) % ranks + ranks) % ranks;
  DimShard shard = DimShard::whole(size);
  ShardLevel blocks;
  for (int i = 0; i < count; ++i) {
    ShardLevel level = levels[i];
    ranks /= level.degree;
    level.coordinate = rank / ranks % level.degree;
    if (level.order == ShardOrder::Block) {
      blocks.coordinate = blocks.coordinate * level.degree + level.coordinate;
      blocks.degree *= level.degree;
      continue;
    }
    shard = shard.cut(blocks).cut(level);
    blocks = {};
  }
  return shard.cut(blocks);
}

constexpr DimShard getShard(int64_t size, std::initializer_list<ShardLevel> levels,
                            int64_t back = 0) {
  return getShard(size, levels.begin(), static_cast<int>(levels.size()), back);
}

} // namespace titan
