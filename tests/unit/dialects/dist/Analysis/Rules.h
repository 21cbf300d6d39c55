// Sharding rules that the tests of this folder use.
#pragma once

#include "dialects/dist/Analysis/FactorPropagation.h"

namespace titan::dist::test {

/// The dimensions of the rules below.
inline const FactorDim kSeq{"seq", "", 8}, kEmbed{"embed", "", 16}, kFfn{"ffn", "", 32};

/// x[seq, embed] @ w[embed, ffn] -> [seq, ffn]
inline ShardingRule getMatmulRule() {
  return {{{"seq", "", 8, FactorKind::Parallel, {0, -1}, {0}},
           {"embed", "", 16, FactorKind::Sum, {1, 0}, {-1}},
           {"ffn", "", 32, FactorKind::Parallel, {-1, 1}, {1}}},
          {{0}, {1}}};
}

/// x[seq] + y[seq] -> [seq]
inline ShardingRule getAddRule() {
  return {{{"seq", "", 8, FactorKind::Parallel, {0, 0}, {0}}}, {{0, 1}}, {}, true};
}

/// Matrices of the sizes of getMatmulRule.
inline ValueSizes getMatmulSizes() {
  return {{8 * 16, 16 * 32}, {8 * 32}, {true, true}};
}

} // namespace titan::dist::test
