//===- TensorAxisRules.h - What the user's map says of one tensor ---*- C++ -*-===//
//
// An axis's map holds for all tensors, unless an override speaks of one by its name. Whoever binds
// a tensor asks here, so that overrides are no case of their own anywhere.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_TENSORAXISRULES_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_TENSORAXISRULES_H

#include "dialects/dist/Transforms/Shard/MeshView.h"

namespace titan::dist {

/// What overrides may call a tensor by. Parameters share their name with their gradients and their
/// optimizer state. An empty name is that of no override.
struct TensorName {
  llvm::StringRef kind; ///< "parameters" or "values"
  llvm::StringRef name;
};

class TensorAxisRules {
public:
  explicit TensorAxisRules(const MeshView &mesh);

  /// The dimensions that the axis splits, the preferred ones first.
  std::vector<std::string> getPreference(size_t axis, TensorName tensor) const;
  /// Whether the axis keeps shards of this kind of state: "params", "grads" or "optimizer".
  bool stores(size_t axis, llvm::StringRef state, TensorName tensor) const;

private:
  /// What the last override of the tensor says of `field` ("shards", "stores"); null for nothing.
  mlir::ArrayAttr find(size_t axis, TensorName tensor, llvm::StringRef field) const;

  const MeshView &mesh;
  using Override = std::pair<size_t, mlir::DictionaryAttr>; ///< of an axis
  llvm::StringMap<llvm::SmallVector<Override>> overrides;   ///< by kind and name
};

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_TENSORAXISRULES_H
