//===- PaddedDims.h - Which dimensions become longer, and how long -*- C++ -*-===//
//
// What the maps pad, by the names of dimensions: a padded dimension is a multiple of the degrees of
// all axes that may split it. A dimension goes by its name, else by that of its origin.
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
  llvm::StringMap<int64_t> multiples; ///< of the sizes, by name
};

/// `type` with dimension `d` as long as it is in `like`.
ir::NamedTensorType withDimOf(ir::NamedTensorType type, int64_t d, ir::NamedTensorType like);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_SHARD_PADDEDDIMS_H
