// Which keys a query attends to: those that the causal mask, the window and the documents
// (titan.attention) all allow. Queries and keys are numbered on this rank, and their positions
// increase. A range of visible positions is therefore a range of keys.
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
  AttentionMask(const AttentionShape &shape, int64_t outer, int64_t kvHead)
      : shape(&shape), ofQueries(queryPositions(shape, outer, kvHead)), ofKeys(keyPositions(shape)),
        documents(shape.documents), stride(shape.ofDocuments.position) {
    if (documents)
      documents += outer * shape.ofDocuments.outer + kvHead * shape.ofDocuments.kvHead;
  }

  /// Keys that any of these queries may attend to, ignoring documents.
  IndexRange getKeyRange(IndexRange queries) const {
    int64_t first = ofQueries.toGlobal(queries.begin), last = ofQueries.toGlobal(queries.end - 1);
    return {shape->window ? ofKeys.lowerBound(first - shape->window + 1) : 0,
            shape->causal   ? ofKeys.lowerBound(last + 1)
            : shape->window ? ofKeys.lowerBound(last + shape->window)
                            : shape->keys};
  }
  /// Queries that may attend to any of these keys, ignoring documents.
  IndexRange getQueryRange(IndexRange keys) const {
    int64_t first = ofKeys.toGlobal(keys.begin), last = ofKeys.toGlobal(keys.end - 1);
    return {shape->causal   ? ofQueries.lowerBound(first)
            : shape->window ? ofQueries.lowerBound(first - shape->window + 1)
                            : 0,
            shape->window ? ofQueries.lowerBound(last + shape->window) : shape->queries};
  }

  /// Whether the query attends to the key.
  bool isVisible(int64_t query, int64_t key) const {
    const IndexRange keys = getKeyRange({query, query + 1});
    return key >= keys.begin && key < keys.end &&
           (!documents || getKeyDocument(key) == getQueryDocument(query));
  }
  bool hasDocuments() const { return documents; }
  int64_t getKeyDocument(int64_t key) const { return documents[ofKeys.toGlobal(key) * stride]; }
  int64_t getQueryDocument(int64_t query) const {
    return documents[ofQueries.toGlobal(query) * stride];
  }

  /// No query attends to a key here, because their ranges of document numbers are disjoint.
  bool isFullyMasked(IndexRange queries, IndexRange keys) const {
    if (!documents)
      return false;
    const NumberRange one = getDocumentNumbers(queries, ofQueries),
                      other = getDocumentNumbers(keys, ofKeys);
    return one.highest < other.lowest || other.highest < one.lowest;
  }
  /// Every query attends to every key here.
  bool isUnmasked(IndexRange queries, IndexRange keys) const {
    int64_t first = ofQueries.toGlobal(queries.begin), last = ofQueries.toGlobal(queries.end - 1);
    int64_t firstKey = ofKeys.toGlobal(keys.begin), lastKey = ofKeys.toGlobal(keys.end - 1);
    if ((shape->causal && lastKey > first) ||
        (shape->window && (last - firstKey >= shape->window || lastKey - first >= shape->window)))
      return false;
    if (!documents)
      return true;
    const NumberRange one = getDocumentNumbers(queries, ofQueries),
                      other = getDocumentNumbers(keys, ofKeys);
    return one.lowest == one.highest && other.lowest == other.highest && one.lowest == other.lowest;
  }

private:
  struct NumberRange {
    int64_t lowest, highest;
  };
  NumberRange getDocumentNumbers(IndexRange range, const DimShard &shard) const {
    int64_t first = documents[shard.toGlobal(range.begin) * stride];
    NumberRange numbers{first, first};
    for (int64_t i = range.begin + 1; i < range.end; ++i) {
      int64_t document = documents[shard.toGlobal(i) * stride];
      numbers.lowest = std::min(numbers.lowest, document);
      numbers.highest = std::max(numbers.highest, document);
    }
    return numbers;
  }

  const AttentionShape *shape;
  DimShard ofQueries, ofKeys; ///< the positions of this rank's queries and keys
  const int64_t *documents;   ///< of the pair, by global position; null: none
  int64_t stride;             ///< between the documents of consecutive positions
};

} // namespace titan::rt
