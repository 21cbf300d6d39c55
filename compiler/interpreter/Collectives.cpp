//===- Collectives.cpp - Semantics of collectives on shards ---------------===//

#include "compiler/interpreter/Collectives.h"

#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Rounding.h"
#include "dialects/titan/Support/Reductions.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;

bool interpreter::isCollective(Operation *op) {
  return dist::isCollective(op) || isa<dist::ReshardOp>(op);
}

std::vector<int64_t> interpreter::getParticipants(Operation *op, const RankMesh &mesh,
                                                  int64_t rank) {
  if (isa<dist::LocalSliceOp, dist::MakePartialOp>(op))
    return {rank};
  if (auto axes = op->getAttrOfType<ArrayAttr>("axes"))
    return mesh.getGroup(rank, axes);
  std::vector<int64_t> all(mesh.getNumRanks());
  for (int64_t i = 0; i < mesh.getNumRanks(); ++i)
    all[i] = i;
  return all;
}

namespace {

/// The values of the global elements that a group holds.
struct Known {
  std::vector<double> values;
  std::vector<bool> present;
};

Known gather(NamedTensorType type, const RankMesh &mesh, ArrayRef<int64_t> group,
             ArrayRef<const HostTensor *> inputs, bool reduces) {
  Known known;
  known.values.resize(type.getNumElements());
  known.present.resize(type.getNumElements(), false);
  dist::ReductionKind kind = type.getShardingOrReplicated().getPartialKind();
  for (auto [rank, input] : llvm::zip_equal(group, inputs)) {
    std::vector<int64_t> indices = getGlobalIndices(type, mesh, rank);
    for (auto [index, value] : llvm::zip_equal(indices, input->data)) {
      if (index < 0)
        continue;
      double &target = known.values[index];
      target = reduces && known.present[index] ? ir::combine(kind, target, value) : value;
      known.present[index] = true;
    }
  }
  return known;
}

FailureOr<HostTensor> pick(Operation *op, NamedTensorType type, const RankMesh &mesh, int64_t rank,
                           const Known &known) {
  HostTensor result = makePoisoned(type, mesh);
  std::vector<int64_t> indices = getGlobalIndices(type, mesh, rank);
  for (auto [index, value] : llvm::zip_equal(indices, result.data)) {
    if (index >= 0 && !known.present[index])
      return op->emitOpError("gives rank ") << rank << " element " << index << " of " << type
                                            << ", which no rank of its group has";
    value = index < 0 ? 0.0 : known.values[index];
  }
  roundTo(type.getElementType(), result.data);
  return result;
}

FailureOr<std::vector<HostTensor>> reshard(Operation *op, NamedTensorType from, NamedTensorType to,
                                           const RankMesh &mesh,
                                           ArrayRef<const HostTensor *> inputs) {
  auto emitError = [&] { return op->emitOpError(); };
  FailureOr<HostTensor> global = assemble(from, mesh, inputs, emitError);
  if (failed(global))
    return failure();
  roundTo(from.getElementType(), global->data);
  std::vector<HostTensor> results;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    results.push_back(getShard(to, mesh, rank, *global));
  return results;
}

} // namespace

FailureOr<std::vector<HostTensor>>
interpreter::evaluateConversion(Operation *op, unsigned i, const RankMesh &mesh,
                                ArrayRef<int64_t> group, ArrayRef<const HostTensor *> inputs) {
  auto from = cast<NamedTensorType>(op->getOperand(i).getType());
  auto to = cast<NamedTensorType>(op->getResult(i).getType());
  if (isa<dist::ReshardOp>(op))
    return reshard(op, from, to, mesh, inputs);
  if (auto makePartial = dyn_cast<dist::MakePartialOp>(op)) {
    HostTensor result = *inputs[0];
    if (mesh.getGroupIndex(group[0], makePartial.getAxes()) != 0)
      std::fill(result.data.begin(), result.data.end(), 0.0);
    return std::vector<HostTensor>{result};
  }
  bool reduces = dist::reduces(op);
  Known known = gather(from, mesh, group, inputs, reduces);
  auto only = op->getAttrOfType<IntegerAttr>(dist::kDroppedAttr);
  bool dropped = only ? only.getInt() == i : op->hasAttr(dist::kDroppedAttr);
  std::vector<HostTensor> results;
  for (auto [rank, input] : llvm::zip_equal(group, inputs)) {
    if (dropped)
      known = gather(from, mesh, rank, input, /*reduces=*/false);
    FailureOr<HostTensor> result = pick(op, to, mesh, rank, known);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  return results;
}
