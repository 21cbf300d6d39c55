// Arguments of the GEMMs of attention. Vector{Forward,Backward}.h and Packed{Forward,Backward}.h
// implement the same interface, so the passes (Attention{Forward,Backward}.cpp) take either one as
// a template argument.
#pragma once

#include "AttentionMask.h"
#include "Transpose.h"

#include "Attention.h"

namespace titan::rt {

/// The factor of q . k: scores in units of log2 or, with a cap, arguments of its tanh. The constant
/// is log2(e).
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

/// Planned memory of the backward products; the suffix T means transposed.
template <typename T> struct BackwardMemory {
  T *queries, *douts, *dqueries;                 // packed, packed, [rows][width]
  T *keys, *keysT, *valuesT, *dkeysT, *dvaluesT; // of a block: [lanes][width], else [..head][lanes]
};

/// `count` queries from `query` on of query head g, and `keys` keys from `key` on in lanes. The
/// first query and the first key each start a panel.
struct ScoreTile {
  int64_t g, query, count;
  int64_t key, keys;
};

} // namespace titan::rt
