// What the products of attention are given, whether vectors or tiles make them: each of
// Vector{Forward,Backward}.h and Packed{Forward,Backward}.h is one way, and the passes do not know
// which they have.
#pragma once

#include "AttentionMask.h"
#include "Transpose.h"

#include "Attention.h"

namespace titan::rt {

/// What makes scores come out in units of log2, or of the cap.
template <typename T> T scoreFactor(const AttentionShape &s) {
  return static_cast<T>(s.softCap > 0 ? s.scale / s.softCap : s.scale * 1.44269504088896340736);
}

/// Positions as lines.
inline RowStrides rowStridesOf(const AttentionStrides &at) {
  return {at.position, at.element};
}

/// The planned memory of the forward pass's products.
template <typename T> struct ForwardMemory {
  T *keys, *values;  // packed
  T *queries, *sums; // [head][lanes], [valueHead][lanes]
};

/// The planned memory of the backward pass's products.
template <typename T> struct BackwardMemory {
  T *queries, *douts, *dqueries;                 // packed, packed, [rows][width]
  T *keys, *keysT, *valuesT, *dkeysT, *dvaluesT; // of a block: [lanes][width], else [..head][lanes]
};

/// Some queries of a head and a block of keys in lanes.
struct ScoreTile {
  int64_t g, query, count; // the first query begins a panel
  int64_t key, keys;       // so does the first key
};

} // namespace titan::rt
