// The cheapest values to keep for a later computation: a minimum cut of the values that it needs.
#pragma once

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Transforms/Gradient/MinimumCut.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace titan::ir {

/// The weight of values that should be computed again.
inline constexpr int64_t kMustNotKeep = int64_t{1} << 56;

/// Bytes of the complete value.
inline int64_t getBytes(mlir::Value value) {
  NamedTensorType type = getTensorType(value);
  return type.getNumElements() * llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
}

/// The values of least total weight from which all `needed` ones can be computed; of several such
/// sets, the one nearest to `needed`. `getSources` returns the values from which a value can be
/// computed, an optional list: nothing if the value must be kept. `getWeight` is at most
/// kMustNotKeep.
template <typename GetSources, typename GetWeight>
llvm::DenseSet<mlir::Value> findSmallestCut(llvm::ArrayRef<mlir::Value> needed,
                                            GetSources getSources, GetWeight getWeight) {
  MinimumCut cut;
  llvm::MapVector<mlir::Value, unsigned> nodeOf;
  llvm::SmallVector<mlir::Value> pending;
  auto visit = [&](mlir::Value value) {
    auto [entry, isNew] = nodeOf.try_emplace(value, 0);
    if (isNew) {
      entry->second = cut.addNode(getWeight(value));
      pending.push_back(value);
    }
    return entry->second;
  };
  for (mlir::Value value : needed)
    cut.addSink(visit(value));
  while (!pending.empty()) {
    mlir::Value value = pending.pop_back_val();
    std::optional<llvm::SmallVector<mlir::Value>> sources = getSources(value);
    if (!sources)
      cut.addSource(nodeOf.lookup(value));
    else
      for (mlir::Value source : *sources)
        cut.addEdge(visit(source), nodeOf.lookup(value));
  }
  llvm::DenseSet<mlir::Value> smallest;
  for (unsigned node : cut.run())
    smallest.insert(nodeOf.begin()[node].first);
  return smallest;
}

} // namespace titan::ir
