// Virtual ranks and their coordinates.
//
// The module's mesh with all degrees known: coordinates, groups, shards. Ranks are numbered
// row-major, the last axis fastest. A module without a mesh has one rank; an axis that the mesh
// lacks has degree 1.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::interpreter {

class RankMesh {
public:
  /// `mesh` may be null. `autoDegree` is the degree of axes declared `auto`.
  RankMesh(dist::MeshOp mesh, int64_t autoDegree);

  int64_t getNumRanks() const;
  const dist::Degrees &getDegrees() const { return degrees; }
  int64_t getCoordinate(int64_t rank, llvm::StringRef axis) const;

  /// The ranks that differ from `rank` only along `axes`, in the order of the shards of a dimension
  /// sharded over `axes` (the last axis fastest).
  std::vector<int64_t> getGroup(int64_t rank, mlir::ArrayAttr axes) const;

  /// The position of `rank` in its group.
  int64_t getGroupIndex(int64_t rank, mlir::ArrayAttr axes) const;

  /// The sharding of `type` with the coordinates of `rank`.
  TensorSharding getSharding(ir::NamedTensorType type, int64_t rank) const;

private:
  int64_t getStride(llvm::StringRef axis) const;

  std::vector<std::string> names; ///< outer to inner
  dist::Degrees degrees;
};

/// The shards of one rank.
class MeshRankShards : public ir::RankShards {
public:
  MeshRankShards(const RankMesh &mesh, int64_t rank) : mesh(mesh), rank(rank) {}
  DimShard getShard(ir::NamedTensorType type, int64_t dim, int64_t back) const override;

private:
  const RankMesh &mesh;
  int64_t rank;
};

} // namespace titan::interpreter
