// Arguments of the attention products. Vector{Forward,Backward}.h and Packed{Forward,Backward}.h
// implement the same interface, and the passes are independent of the choice.
#pragma once

#include "AttentionMask.h"
#include "Transpose.h"

#include "Attention.h"

namespace titan::rt {

/// Scales scores to units of log2, or of the cap.
template <typename T> T scoreFactor(const AttentionShape &s) {
  return static_cast<T>(s.softCap > 0 ? s.scale / s.softCap : s.scale * 1.44269504088896340736);
}

/// The score of a masked pair: finite, because scores are subtracted, and so low that its
/// probability is 0 next to any visible one. Scores are in units of log2.
template <typename T> constexpr T kHiddenScore = T(-1e30);

/// Strides of positions as rows.
inline RowStrides getRowStrides(const AttentionStrides &at) {
  return {at.position, at.element};
}

/// Planned memory of the forward products.
template <typename T> struct ForwardMemory {
  T *keys, *values;  // packed
  T *queries, *sums; // [head][lanes], [valueHead][lanes]
};

/// Planned memory of the backward products.
template <typename T> struct BackwardMemory {
  T *queries, *douts, *dqueries;                 // packed, packed, [rows][width]
  T *keys, *keysT, *valuesT, *dkeysT, *dvaluesT; // of a block: [lanes][width], else [..head][lanes]
};

/// Some queries of a head, and a block of keys in lanes.
struct ScoreTile {
  int64_t g, query, count; // the first query starts a panel
  int64_t key, keys;       // the first key starts a panel
};

} // namespace titan::rt
