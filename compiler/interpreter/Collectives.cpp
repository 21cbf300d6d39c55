// Computes the results of collectives on shards.

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
  return dist::isCollective(op) || dist::isMessage(op) || isa<dist::ReshardOp>(op);
}

/// The sender and the receiver of a message. `op`, its send or receive, runs on `rank`.
static std::vector<int64_t> getMessageRanks(Operation *op, const RankMesh &mesh, int64_t rank) {
  auto axes = op->getAttrOfType<ArrayAttr>("axes");
  int64_t offset = op->getAttrOfType<IntegerAttr>("offset").getInt();
  std::vector<int64_t> group = mesh.getGroup(rank, axes);
  bool sends = isa<dist::SendOp>(op);
  int64_t partner = mesh.getGroupIndex(rank, axes) + (sends ? offset : -offset);
  if (partner < 0 || partner >= static_cast<int64_t>(group.size()))
    return {rank};
  return sends ? std::vector<int64_t>{rank, group[partner]}
               : std::vector<int64_t>{group[partner], rank};
}

std::vector<int64_t> interpreter::getParticipants(Operation *op, const RankMesh &mesh,
                                                  int64_t rank) {
  if (isa<dist::LocalSliceOp, dist::MakePartialOp>(op))
    return {rank};
  if (dist::isMessage(op))
    return getMessageRanks(op, mesh, rank);
  if (auto axes = op->getAttrOfType<ArrayAttr>("axes"))
    return mesh.getGroup(rank, axes);
  std::vector<int64_t> all(mesh.getNumRanks());
  for (int64_t i = 0; i < mesh.getNumRanks(); ++i)
    all[i] = i;
  return all;
}

Call interpreter::describeCall(Operation *op, const RankMesh &mesh, int64_t rank,
                               std::string position) {
  auto count = [&](Value value) {
    return dist::getLocalNumElements(cast<NamedTensorType>(value.getType()), mesh.getDegrees());
  };
  std::string signature;
  llvm::raw_string_ostream stream(signature);
  if (dist::isMessage(op)) {
    auto type = cast<NamedTensorType>(op->getOperand(0).getType());
    stream << count(op->getOperand(0)) << ' ' << type.getElementType();
    return {getParticipants(op, mesh, rank), signature, std::move(position),
            op->getName().getStringRef().str()};
  }
  stream << op->getName();
  if (auto permute = dyn_cast<dist::PermuteOp>(op))
    stream << " by " << static_cast<int64_t>(permute.getOffset());
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    auto from = cast<NamedTensorType>(operand.getType());
    if (operand != op->getOperand(0))
      stream << " and";
    else if (isa<dist::AllReduceOp, dist::ReduceScatterOp>(op))
      stream << ' '
             << dist::stringifyReductionKind(from.getShardingOrReplicated().getPartialKind());
    stream << " of " << count(operand) << " to " << count(result) << ' ' << from.getElementType();
  }
  return {getParticipants(op, mesh, rank), signature, std::move(position)};
}

namespace {

/// A global value as far as a group has it: an element is present if a rank of the group has it.
struct GroupValue {
  std::vector<double> values;
  std::vector<bool> present;
};

/// Collects the elements of all `inputs`, the shards of `group`. With `reduces`, values of one
/// element are combined; otherwise ranks with the same element have equal values.
GroupValue gather(NamedTensorType type, const RankMesh &mesh, ArrayRef<int64_t> group,
                  ArrayRef<const HostTensor *> inputs, bool reduces) {
  GroupValue known;
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

/// The shard of `rank` from the elements that its group has.
FailureOr<HostTensor> pickShard(Operation *op, NamedTensorType type, const RankMesh &mesh,
                                int64_t rank, const GroupValue &known) {
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

/// The rank at position p of the group receives the shard of the rank at position p - offset,
/// modulo the size of the group.
std::vector<HostTensor> rotate(ArrayRef<const HostTensor *> inputs, int64_t offset) {
  int64_t size = inputs.size();
  std::vector<HostTensor> results;
  for (int64_t position = 0; position < size; ++position)
    results.push_back(*inputs[((position - offset) % size + size) % size]);
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
  if (auto permute = dyn_cast<dist::PermuteOp>(op))
    return rotate(inputs, static_cast<int64_t>(permute.getOffset()));
  if (auto makePartial = dyn_cast<dist::MakePartialOp>(op)) {
    HostTensor result = *inputs[0];
    if (mesh.getGroupIndex(group[0], makePartial.getAxes()) != 0)
      std::fill(result.data.begin(), result.data.end(), 0.0);
    return std::vector<HostTensor>{result};
  }
  bool reduces = dist::reduces(op);
  GroupValue known = gather(from, mesh, group, inputs, reduces);
  auto droppedOperand = op->getAttrOfType<IntegerAttr>(dist::kDroppedAttr);
  bool isDropped = droppedOperand ? droppedOperand.getInt() == i : op->hasAttr(dist::kDroppedAttr);
  std::vector<HostTensor> results;
  for (auto [rank, input] : llvm::zip_equal(group, inputs)) {
    if (isDropped)
      known = gather(from, mesh, rank, input, /*reduces=*/false);
    FailureOr<HostTensor> result = pickShard(op, to, mesh, rank, known);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  return results;
}
