// Dimensions that axis rules pad.
//
// Padded dimensions by name, or by the name of their origin. A padded dimension is a multiple of
// the degrees of all axes that may shard it.
#pragma once

#include "dialects/dist/Transforms/Shard/MeshView.h"

namespace titan::dist {

class PaddedDims {
public:
  explicit PaddedDims(const MeshView &mesh);

  bool isEmpty() const { return multiples.empty(); }
  ir::DimAttr pad(ir::DimAttr dim) const;
  ir::NamedTensorType pad(ir::NamedTensorType type) const;

private:
  llvm::StringMap<int64_t> multiples; ///< name to the number that divides the padded size
};

/// `type` with its dimension `d` (name, size and origin) replaced by that of `like`.
ir::NamedTensorType setDimLike(ir::NamedTensorType type, int64_t d, ir::NamedTensorType like);

} // namespace titan::dist
