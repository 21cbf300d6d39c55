// Which keys a query attends to: the intersection of the terms of the mask (titan.attention).
// Positions are key positions. Queries are numbered on this rank; their positions increase.
#pragma once

#include "titan/runtime/program.h"

#include <algorithm>

namespace titan::rt {

/// The half-open range [begin, end).
struct IndexRange {
  int64_t begin, end;
  bool isEmpty() const { return begin >= end; }
};

/// The mask of one (outer, kv head) pair.
class AttentionMask {
public:
  AttentionMask(const AttentionShape &shape, const int64_t *documents)
      : shape(&shape), positions(queryPositions(shape)), documents(documents),
        stride(shape.ofDocuments.position) {}

  /// Keys that any of these queries may attend to, ignoring documents.
  IndexRange keysOf(IndexRange queries) const {
    int64_t first = positions.toGlobal(queries.begin), last = positions.toGlobal(queries.end - 1);
    return {shape->window ? std::max<int64_t>(0, first - shape->window + 1) : 0,
            std::min(shape->keys, shape->causal   ? last + 1
                                  : shape->window ? last + shape->window
                                                  : shape->keys)};
  }
  /// Queries that may attend to any of these keys, ignoring documents.
  IndexRange queriesOf(IndexRange keys) const {
    int64_t begin = shape->causal   ? positions.lowerBound(keys.begin)
                    : shape->window ? positions.lowerBound(keys.begin - shape->window + 1)
                                    : 0;
    return {begin,
            shape->window ? positions.lowerBound(keys.end - 1 + shape->window) : shape->queries};
  }

  bool hasDocuments() const { return documents; }
  int64_t documentOfKey(int64_t key) const { return documents[key * stride]; }
  int64_t documentOfQuery(int64_t query) const { return documentOfKey(positions.toGlobal(query)); }

  /// No query attends to a key here, because their ranges of document numbers are disjoint.
  bool isFullyMasked(IndexRange queries, IndexRange keys) const {
    if (!documents)
      return false;
    Numbers one = numbersOf(queries, positions), other = numbersOf(keys, DimShard{});
    return one.highest < other.lowest || other.highest < one.lowest;
  }
  /// Every query attends to every key here.
  bool isUnmasked(IndexRange queries, IndexRange keys) const {
    int64_t first = positions.toGlobal(queries.begin), last = positions.toGlobal(queries.end - 1);
    if ((shape->causal && keys.end - 1 > first) ||
        (shape->window &&
         (last - keys.begin >= shape->window || keys.end - 1 - first >= shape->window)))
      return false;
    if (!documents)
      return true;
    Numbers one = numbersOf(queries, positions), other = numbersOf(keys, DimShard{});
    return one.lowest == one.highest && other.lowest == other.highest && one.lowest == other.lowest;
  }

private:
  struct Numbers {
    int64_t lowest, highest;
  };
  Numbers numbersOf(IndexRange range, const DimShard &shard) const {
    int64_t first = documentOfKey(shard.toGlobal(range.begin));
    Numbers numbers{first, first};
    for (int64_t i = range.begin + 1; i < range.end; ++i) {
      int64_t document = documentOfKey(shard.toGlobal(i));
      numbers.lowest = std::min(numbers.lowest, document);
      numbers.highest = std::max(numbers.highest, document);
    }
    return numbers;
  }

  const AttentionShape *shape;
  DimShard positions; ///< key positions of the queries
  const int64_t *documents;
  int64_t stride;
};

} // namespace titan::rt
