// Axis rules of one tensor.
//
// Axis rules apply to all tensors, unless an override names a tensor. This class merges both, so
// that no other code handles overrides.
#pragma once

#include "dialects/dist/Transforms/Shard/MeshView.h"

namespace titan::dist {

/// The name by which overrides match a tensor. A parameter, its gradient and its optimizer state
/// share a name. No override matches an empty name.
struct TensorName {
  llvm::StringRef kind; ///< "parameters" or "values"
  llvm::StringRef name;
};

class TensorAxisRules {
public:
  explicit TensorAxisRules(const MeshView &mesh);

  /// The dimensions that the axis may shard, in order of preference.
  std::vector<std::string> getPreference(size_t axis, TensorName tensor) const;
  /// Whether the axis stores this kind of state ("params", "grads", "optimizer") as shards.
  bool stores(size_t axis, llvm::StringRef state, TensorName tensor) const;

private:
  /// The value of `field` ("shards", "stores") in the last override of the tensor that sets it for
  /// this axis; null if none does.
  mlir::ArrayAttr find(size_t axis, TensorName tensor, llvm::StringRef field) const;

  const MeshView &mesh;
  using Override = std::pair<size_t, mlir::DictionaryAttr>; ///< axis and fields
  llvm::StringMap<llvm::SmallVector<Override>> overrides;   ///< by kind and name
};

} // namespace titan::dist
