//===- PaddedDims.h - Dimensions that axis rules pad ------------*- C++ -*-===//
//
// Padded dimensions by name, or by the name of their origin. A padded dimension is a multiple of
// the degrees of all axes that may shard it.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PADDEDDIMS_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PADDEDDIMS_H

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

/// `type` with the size of dimension `d` in `like`.
ir::NamedTensorType withDimOf(ir::NamedTensorType type, int64_t d, ir::NamedTensorType like);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PADDEDDIMS_H
