//===- Layout.cpp - Shards and global values ------------------------------===//

#include "compiler/interpreter/Layout.h"

#include "compiler/interpreter/Format.h"

#include "dialects/titan/Support/Reductions.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;

namespace {

int64_t multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

/// The shard of the dimensions: a box of the global tensor.
struct Box {
  SmallVector<int64_t> shape, offset, global;

  Box(NamedTensorType type, const RankMesh &mesh, int64_t rank) : global(type.getShape()) {
    MeshShardOffsets offsets(mesh, rank);
    dist::ShardingAttr sharding = type.getShardingOrReplicated();
    for (int64_t d = 0; d < type.getRank(); ++d) {
      int64_t degreeProduct = dist::getDegreeProduct(sharding.getDimAxes()[d], mesh.getDegrees());
      shape.push_back(llvm::divideCeil(global[d], degreeProduct));
      offset.push_back(offsets.getOffset(type, d));
    }
  }

  /// The global index of the box's element `at` (row-major); -1 outside the global tensor.
  int64_t locate(int64_t at) const {
    int64_t index = 0, stride = 1;
    for (size_t d = shape.size(); d-- > 0; at /= shape[d], stride *= global[d]) {
      int64_t coordinate = offset[d] + at % shape[d];
      if (coordinate >= global[d])
        return -1;
      index += coordinate * stride;
    }
    return index;
  }
};

} // namespace

std::vector<int64_t> interpreter::getGlobalIndices(NamedTensorType type, const RankMesh &mesh,
                                                   int64_t rank) {
  Box box(type, mesh, rank);
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  // rows of the box, each in `chunks`; one row and one chunk without flat storage
  int64_t rows = 1, chunks = 1, chunk = 0;
  if (sharding.isFlat()) {
    rows = multiply(ArrayRef(box.shape).take_front(sharding.getFlatFrom()));
    chunks = dist::getDegreeProduct(sharding.getFlatAxes(), mesh.getDegrees());
    chunk = mesh.getGroupIndex(rank, sharding.getFlatAxes());
  }
  int64_t rowSize = multiply(box.shape) / rows, chunkSize = llvm::divideCeil(rowSize, chunks);
  std::vector<int64_t> indices;
  indices.reserve(rows * chunkSize);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t at = chunk * chunkSize; at < (chunk + 1) * chunkSize; ++at)
      indices.push_back(at < rowSize ? box.locate(row * rowSize + at) : -1);
  return indices;
}

HostTensor interpreter::makePoisoned(NamedTensorType type, const RankMesh &mesh) {
  HostTensor tensor;
  tensor.shape = dist::getLocalShape(type, mesh.getDegrees());
  tensor.data.assign(multiply(tensor.shape), std::numeric_limits<double>::quiet_NaN());
  return tensor;
}

HostTensor interpreter::getShard(NamedTensorType type, const RankMesh &mesh, int64_t rank,
                                 const HostTensor &global) {
  HostTensor shard = makePoisoned(type, mesh);
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  bool isZero = sharding.getPartialKind() == dist::ReductionKind::Sum &&
                mesh.getGroupIndex(rank, sharding.getPartialAxes()) != 0;
  std::vector<int64_t> indices = getGlobalIndices(type, mesh, rank);
  for (auto [value, index] : llvm::zip_equal(shard.data, indices))
    value = index < 0 || isZero ? 0.0 : global.data[index];
  return shard;
}

/// The rank at coordinate 0 of all axes that the sharding does not name.
static int64_t getRepresentative(dist::ShardingAttr sharding, const RankMesh &mesh, int64_t rank) {
  SmallVector<Attribute> unnamed;
  for (const auto &entry : mesh.getDegrees()) {
    auto axis = StringAttr::get(sharding.getContext(), entry.first());
    if (!sharding.usesAxis(axis))
      unnamed.push_back(axis);
  }
  return mesh.getGroup(rank, ArrayAttr::get(sharding.getContext(), unnamed)).front();
}

static LogicalResult checkReplica(const HostTensor &one, const HostTensor &other, int64_t rank,
                                  int64_t otherRank, function_ref<InFlightDiagnostic()> emitError) {
  for (size_t i = 0; i < one.data.size(); ++i)
    if (std::memcmp(&one.data[i], &other.data[i], sizeof(double)) != 0 &&
        !(std::isnan(one.data[i]) && std::isnan(other.data[i])))
      return emitError() << "replicas on ranks " << rank << " and " << otherRank
                         << " differ at local element " << i << ": " << format(one.data[i])
                         << " and " << format(other.data[i]);
  return success();
}

FailureOr<HostTensor> interpreter::assemble(NamedTensorType type, const RankMesh &mesh,
                                            ArrayRef<const HostTensor *> shards,
                                            function_ref<InFlightDiagnostic()> emitError) {
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  HostTensor global;
  global.shape = type.getShape();
  global.data.resize(type.getNumElements());
  std::vector<bool> written(global.data.size(), false);
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    int64_t representative = getRepresentative(sharding, mesh, rank);
    if (representative != rank) {
      if (failed(checkReplica(*shards[representative], *shards[rank], representative, rank,
                              emitError)))
        return failure();
      continue;
    }
    std::vector<int64_t> indices = getGlobalIndices(type, mesh, rank);
    for (auto [value, index] : llvm::zip_equal(shards[rank]->data, indices)) {
      if (index < 0)
        continue;
      double &target = global.data[index];
      target = written[index] ? ir::combine(sharding.getPartialKind(), target, value) : value;
      written[index] = true;
    }
  }
  return global;
}
