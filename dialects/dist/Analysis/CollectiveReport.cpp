// Reports the collectives of a program.

#include "dialects/dist/Analysis/CollectiveReport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

static int64_t getBytes(Value value, const Degrees &degrees) {
  auto type = cast<ir::NamedTensorType>(value.getType());
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  return getLocalNumElements(type, degrees) * (bits == 1 ? 1 : bits / 8);
}

int64_t dist::getBytesSent(Operation *op, unsigned i, const Degrees &degrees) {
  const int64_t ranks = getDegreeProduct(op->getAttrOfType<ArrayAttr>("axes"), degrees);
  int64_t in = getBytes(op->getOperand(i), degrees);
  if (isa<PermuteOp, SendOp>(op))
    return ranks > 1 ? in : 0;
  if (isa<ReceiveOp>(op))
    return 0;
  int64_t out = getBytes(op->getResult(i), degrees);
  if (isa<AllGatherOp>(op))
    return in * (ranks - 1);
  if (isa<ReduceScatterOp>(op))
    return out * (ranks - 1);
  if (isa<AllReduceOp>(op))
    return 2 * in * (ranks - 1) / ranks;
  return in * (ranks - 1) / ranks;
}

/// Executions per step. A prefetch of the next iteration's slots does not run in the last
/// iteration.
static int64_t countStarts(Operation *op) {
  int64_t times = ir::countExecutions(op);
  LayerOp layer = getLayer(op);
  std::optional<ir::RepeatVariant> body = ir::findVariant(op->getBlock());
  if (!layer || !layer.getIndex() || !body)
    return times;
  auto iterations =
      body->getRepeat().getIterations().getIterations(static_cast<int64_t>(body->getNumber()));
  return times / body->getCount() *
         llvm::count_if(iterations, [&](int64_t at) { return layer.exists(at); });
}

int64_t dist::countCalls(Operation *op, const Degrees &degrees) {
  if (!isa<AllGatherOp, ReduceScatterOp>(op) || op->getNumOperands() != 1)
    return 1;
  auto from = cast<ir::NamedTensorType>(op->getOperand(0).getType()),
       to = cast<ir::NamedTensorType>(op->getResult(0).getType());
  if (!isRowwiseCollective(from, to))
    return 1;
  ir::NamedTensorType flat = from.getShardingOrReplicated().isFlat() ? from : to;
  int64_t rows = 1;
  for (int64_t size : llvm::ArrayRef<int64_t>(getLocalShape(flat, degrees)).drop_back())
    rows *= size;
  return rows;
}

int64_t CollectiveUse::getBytesSent() const {
  int64_t sum = 0;
  for (const CollectiveValue &value : values)
    sum += value.bytesSent;
  return sum;
}

std::vector<CollectiveUse> dist::reportCollectives(FunctionOpInterface function,
                                                   const Degrees &degrees) {
  std::vector<CollectiveUse> uses;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isCollective(op) && !isMessage(op))
      return;
    CollectiveUse use;
    use.kind = op->getName().stripDialect().str();
    auto axes = op->getAttrOfType<ArrayAttr>("axes");
    for (auto axis : axes.getAsRange<StringAttr>())
      use.axes.push_back(axis.str());
    const int64_t calls = countCalls(op, degrees);
    use.times = calls * countStarts(op);
    use.isOverlapped = getStartChannel(op).has_value();
    if (auto chunk = op->getAttrOfType<StringAttr>(kChunkAttr))
      use.chunking = ("chunk " + chunk.getValue()).str();
    if (auto reason = op->getAttrOfType<StringAttr>(kWholeAttr))
      use.chunking = ("whole: " + reason.getValue()).str();
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      // A send has no result.
      Location location = op->getNumResults() ? getValueLocation(op->getResult(i)) : op->getLoc();
      use.values.push_back({getSourceValue(location), getBytesSent(op, i, degrees) / calls});
    }
    uses.push_back(std::move(use));
  });
  return uses;
}

int64_t dist::getSplitDim(ir::NamedTensorType a, ir::NamedTensorType b) {
  ShardingAttr x = a.getShardingOrReplicated(), y = b.getShardingOrReplicated();
  for (auto [i, more, less] : llvm::enumerate(x.getDimAxes(), y.getDimAxes()))
    if (more.size() > less.size())
      return static_cast<int64_t>(i);
  // A chunk of a chunk: flat storage is the last local dimension. The shard phase shards it further
  // only if it has no padding.
  return y.isFlat() && x.getFlatAxes().size() > y.getFlatAxes().size() ? x.getFlatFrom() : -1;
}

void dist::printCollectives(llvm::raw_ostream &out, const std::vector<CollectiveUse> &uses) {
  int64_t total = 0;
  for (const CollectiveUse &use : uses) {
    bool isBucket = use.values.size() > 1;
    std::string what =
        isBucket ? std::to_string(use.values.size()) + " values" : use.values.front().print();
    out << llvm::formatv("{0,-14} over {1,-16} {2,4} x {3,12} bytes  {4}{5}{6}\n", use.kind,
                         llvm::join(use.axes, ", "), use.times, use.getBytesSent(), what,
                         use.isOverlapped ? ", overlapped" : "",
                         use.chunking.empty() ? "" : ", " + use.chunking);
    for (const CollectiveValue &value : use.values)
      if (isBucket)
        out << llvm::formatv("{0,56} bytes    {1}\n", value.bytesSent, value.print());
    total += use.times * use.getBytesSent();
  }
  out << llvm::formatv("{0} collectives; a rank sends {1} bytes a step\n", uses.size(), total);
}
