//===- RankMesh.h - Virtual ranks and their coordinates ---------*- C++ -*-===//
//
// The module's mesh with all degrees known: who stands where, who forms a group, which part of a
// split value a rank holds. Ranks are numbered row-major, the last axis fastest. A module without a
// mesh has one rank; an axis that the mesh does not have counts as one of degree 1.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_RANKMESH_H
#define TITAN_COMPILER_INTERPRETER_RANKMESH_H

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::interpreter {

class RankMesh {
public:
  /// `mesh` may be null. `autoDegree` is what an axis of degree `auto` becomes.
  RankMesh(dist::MeshOp mesh, int64_t autoDegree);

  int64_t getNumRanks() const;
  const dist::Degrees &getDegrees() const { return degrees; }
  int64_t getCoordinate(int64_t rank, llvm::StringRef axis) const;

  /// The ranks that differ from `rank` only along `axes`, in the order in which a dimension split
  /// over `axes` has its parts (the last axis fastest).
  std::vector<int64_t> getGroup(int64_t rank, mlir::ArrayAttr axes) const;

  /// The position of `rank` in its group.
  int64_t getGroupIndex(int64_t rank, mlir::ArrayAttr axes) const;

private:
  int64_t getStride(llvm::StringRef axis) const;

  std::vector<std::string> names; ///< outer to inner
  dist::Degrees degrees;
};

/// Where one rank's parts of values start.
class MeshShardOffsets : public ir::ShardOffsets {
public:
  MeshShardOffsets(const RankMesh &mesh, int64_t rank) : mesh(mesh), rank(rank) {}
  int64_t getOffset(ir::NamedTensorType type, int64_t dim) const override;

private:
  const RankMesh &mesh;
  int64_t rank;
};

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_RANKMESH_H
