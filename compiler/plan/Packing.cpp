#include "compiler/plan/Packing.h"

#include "dialects/dist/Analysis/CollectiveReport.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;

namespace titan::plan {
namespace {

ir::NamedTensorType getType(Value value) {
  return cast<ir::NamedTensorType>(value.getType());
}

/// The rows before dimension `dim`: a shard of the dimension has a segment in each. One row if
/// `dim` is -1.
int64_t countRows(ir::NamedTensorType type, int64_t dim, const dist::Degrees &degrees) {
  const SmallVector<int64_t> shape = dist::getLocalShape(type, degrees);
  int64_t rows = 1;
  for (int64_t before = 0; before < dim; ++before)
    rows *= shape[before];
  return rows;
}

/// Whether a message of value `i` is not one segment of the operand, or of the result.
bool hasManySegments(Operation *op, unsigned i, const dist::Degrees &degrees) {
  const ir::NamedTensorType from = getType(op->getOperand(i)), to = getType(op->getResult(i));
  const int64_t gathered = dist::getSplitDim(from, to), split = dist::getSplitDim(to, from);
  auto axes = op->getAttrOfType<ArrayAttr>("axes");
  auto isHeadTail = [&](ir::NamedTensorType type) {
    return llvm::any_of(axes, [&](Attribute axis) {
      return type.getShardingOrReplicated().getOrder(axis) == ShardOrder::HeadTail;
    });
  };
  if (isa<dist::AllGatherOp>(op))
    return countRows(from, gathered, degrees) > 1 || (gathered >= 0 && isHeadTail(from));
  if (isa<dist::ReduceScatterOp>(op))
    return countRows(to, split, degrees) > 1 || (split >= 0 && isHeadTail(to));
  if (isa<dist::AllToAllOp>(op))
    return op->getNumOperands() > 1 || countRows(from, split, degrees) > 1 ||
           countRows(to, gathered, degrees) > 1;
  return false;
}

} // namespace

void Packing::add(func::FuncOp function) {
  auto getBytes = [&](Value value) {
    return dist::getLocalNumElements(getType(value), degrees) *
           llvm::divideCeil(getType(value).getElementType().getIntOrFloatBitWidth(), 8);
  };
  function.walk([&](Operation *op) {
    if (!dist::isCollective(op) || op->getNumOperands() != op->getNumResults())
      return;
    auto axes = op->getAttrOfType<ArrayAttr>("axes");
    if (dist::getDegreeProduct(axes, degrees) == 1 ||
        llvm::none_of(llvm::seq(op->getNumOperands()),
                      [&](unsigned i) { return hasManySegments(op, i, degrees); }))
      return;
    std::vector<std::string> group;
    if (hasLanes && dist::getStartChannel(op))
      for (auto axis : axes.getAsRange<StringAttr>())
        if (degrees.lookup(axis) > 1)
          group.push_back(axis.str());
    int64_t sent = 0, received = 0;
    for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
      sent += getBytes(operand);
      received += getBytes(result);
    }
    Buffers &pair = buffers[group];
    pair = {std::max(pair.sent, sent), std::max(pair.received, received)};
  });
}

int64_t Packing::getBytes() const {
  int64_t bytes = 0;
  for (const auto &[group, pair] : buffers)
    bytes += pair.sent + pair.received;
  return bytes;
}

} // namespace titan::plan
