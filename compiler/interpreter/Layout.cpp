// Converts between shards and global values.

#include "compiler/interpreter/Layout.h"

#include "compiler/interpreter/Format.h"

#include "dialects/titan/Support/Reductions.h"

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

} // namespace

std::vector<int64_t> interpreter::getGlobalIndices(NamedTensorType type, const RankMesh &mesh,
                                                   int64_t rank) {
  return ShardLayout(mesh.getSharding(type, rank)).globalIndices();
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
