// Virtual ranks and their coordinates.

#include "compiler/interpreter/RankMesh.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;

RankMesh::RankMesh(dist::MeshOp mesh, int64_t autoDegree)
    : degrees(dist::getDegrees(mesh, autoDegree)) {
  if (mesh)
    for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>())
      names.push_back(axis.getName().str());
}

int64_t RankMesh::getNumRanks() const {
  int64_t product = 1;
  for (const auto &entry : degrees)
    if (llvm::MulOverflow(product, entry.second, product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

int64_t RankMesh::getStride(StringRef axis) const {
  int64_t stride = 1;
  for (size_t i = names.size(); i-- > 0 && names[i] != axis;)
    stride *= degrees.lookup(names[i]);
  return stride;
}

int64_t RankMesh::getCoordinate(int64_t rank, StringRef axis) const {
  auto degree = degrees.find(axis);
  return degree == degrees.end() ? 0 : rank / getStride(axis) % degree->second;
}

std::vector<int64_t> RankMesh::getGroup(int64_t rank, ArrayAttr axes) const {
  std::vector<int64_t> group{rank};
  for (auto axis : axes.getAsRange<StringAttr>())
    if (degrees.count(axis.getValue()))
      group[0] -= getCoordinate(rank, axis.getValue()) * getStride(axis.getValue());
  for (auto axis : axes.getAsRange<StringAttr>()) {
    auto degree = degrees.find(axis.getValue());
    if (degree == degrees.end())
      continue;
    std::vector<int64_t> grown;
    for (int64_t member : group)
      for (int64_t i = 0; i < degree->second; ++i)
        grown.push_back(member + i * getStride(axis.getValue()));
    group = std::move(grown);
  }
  return group;
}

int64_t RankMesh::getGroupIndex(int64_t rank, ArrayAttr axes) const {
  int64_t groupIndex = 0;
  for (auto axis : axes.getAsRange<StringAttr>())
    if (auto degree = degrees.find(axis.getValue()); degree != degrees.end())
      groupIndex = groupIndex * degree->second + getCoordinate(rank, axis.getValue());
  return groupIndex;
}

TensorSharding RankMesh::getSharding(ir::NamedTensorType type, int64_t rank) const {
  return dist::getTensorSharding(type, degrees,
                                 [&](StringRef axis) { return getCoordinate(rank, axis); });
}

DimShard MeshRankShards::getShard(ir::NamedTensorType type, int64_t dim, int64_t back) const {
  return titan::getShard(mesh.getSharding(type, rank).dims[dim], back);
}
