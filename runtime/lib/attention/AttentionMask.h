// Which keys a query attends to: the intersection of the terms of the mask (titan.attention).
// Positions are key positions. Query indices start at the first query of this rank.
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
      : shape(&shape), documents(documents), stride(shape.ofDocuments.position) {}

  /// Keys that any of these queries may attend to, ignoring documents.
  IndexRange keysOf(IndexRange queries) const {
    int64_t first = queries.begin + shape->firstQuery, last = queries.end - 1 + shape->firstQuery;
    return {shape->window ? std::max<int64_t>(0, first - shape->window + 1) : 0,
            std::min(shape->keys, shape->causal   ? last + 1
                                  : shape->window ? last + shape->window
                                                  : shape->keys)};
  }
  /// Queries that may attend to any of these keys, ignoring documents.
  IndexRange queriesOf(IndexRange keys) const {
    int64_t first = shape->causal   ? keys.begin
                    : shape->window ? keys.begin - shape->window + 1
                                    : shape->firstQuery;
    int64_t end = shape->window ? keys.end - 1 + shape->window : shape->firstQuery + shape->queries;
    return {std::max<int64_t>(0, first - shape->firstQuery),
            std::min(shape->queries, end - shape->firstQuery)};
  }

  bool hasDocuments() const { return documents; }
  int64_t documentOfKey(int64_t key) const { return documents[key * stride]; }
  int64_t documentOfQuery(int64_t query) const { return documentOfKey(query + shape->firstQuery); }

  /// No query attends to a key here, because their ranges of document numbers are disjoint.
  bool isFullyMasked(IndexRange queries, IndexRange keys) const {
    if (!documents)
      return false;
    Numbers one = numbersOf(queries, shape->firstQuery), other = numbersOf(keys, 0);
    return one.highest < other.lowest || other.highest < one.lowest;
  }
  /// Every query attends to every key here.
  bool isUnmasked(IndexRange queries, IndexRange keys) const {
    int64_t first = queries.begin + shape->firstQuery, last = queries.end - 1 + shape->firstQuery;
    if ((shape->causal && keys.end - 1 > first) ||
        (shape->window &&
         (last - keys.begin >= shape->window || keys.end - 1 - first >= shape->window)))
      return false;
    if (!documents)
      return true;
    Numbers one = numbersOf(queries, shape->firstQuery), other = numbersOf(keys, 0);
    return one.lowest == one.highest && other.lowest == other.highest && one.lowest == other.lowest;
  }

private:
  struct Numbers {
    int64_t lowest, highest;
  };
  Numbers numbersOf(IndexRange range, int64_t first) const {
    Numbers numbers{documentOfKey(range.begin + first), documentOfKey(range.begin + first)};
    for (int64_t i = range.begin + 1; i < range.end; ++i) {
      numbers.lowest = std::min(numbers.lowest, documentOfKey(i + first));
      numbers.highest = std::max(numbers.highest, documentOfKey(i + first));
    }
    return numbers;
  }

  const AttentionShape *shape;
  const int64_t *documents;
  int64_t stride;
};

} // namespace titan::rt
