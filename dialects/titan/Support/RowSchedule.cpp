// Which operations of a row share a loop.

#include "dialects/titan/Support/RowSchedule.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::fusion;

Value fusion::getIteratedTensor(Operation *op) {
  return isa<ReduceOp>(op) ? op->getOperand(0) : op->getResult(0);
}

SmallVector<StringRef> fusion::getInnerDims(Operation *op, ArrayRef<std::string> rows) {
  SmallVector<StringRef> inner;
  for (DimAttr dim : cast<NamedTensorType>(getIteratedTensor(op).getType()).getDims())
    if (!llvm::is_contained(rows, dim.getName().getValue()))
      inner.push_back(dim.getName().getValue());
  return inner;
}

/// The first loop that may contain `op`.
static unsigned getEarliest(const RowSchedule &schedule, Operation *op, ArrayRef<StringRef> dims) {
  unsigned earliest = 0;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    auto it = producer ? schedule.innerOf.find(producer) : schedule.innerOf.end();
    if (it == schedule.innerOf.end())
      continue;
    bool together = !isa<ReduceOp>(producer) && ArrayRef(schedule.inners[it->second].dims) == dims;
    earliest = std::max(earliest, it->second + (together ? 0 : 1));
  }
  return earliest;
}

/// Moves operations that only later loops over the same dimensions read into the first of these
/// loops, so that they need no row buffer.
static void delay(RowSchedule &schedule, ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    unsigned own = schedule.innerOf[op], first = schedule.inners.size();
    if (isa<ReduceOp>(op) || schedule.inners[own].dims.empty())
      continue;
    for (Operation *user : op->getUsers())
      if (auto it = schedule.innerOf.find(user); it != schedule.innerOf.end())
        first = std::min(first, it->second);
    if (first < schedule.inners.size() && schedule.inners[first].dims == schedule.inners[own].dims)
      schedule.innerOf[op] = first;
  }
  for (RowSchedule::Inner &inner : schedule.inners)
    inner.ops.clear();
  for (Operation *op : ops)
    schedule.inners[schedule.innerOf[op]].ops.push_back(op);
  llvm::erase_if(schedule.inners,
                 [](const RowSchedule::Inner &inner) { return inner.ops.empty(); });
  for (auto [i, inner] : llvm::enumerate(schedule.inners))
    for (Operation *op : inner.ops)
      schedule.innerOf[op] = i;
}

RowSchedule fusion::scheduleRows(ArrayRef<Operation *> ops, ArrayRef<std::string> rows) {
  RowSchedule schedule;
  for (Operation *op : ops) {
    SmallVector<StringRef> dims = getInnerDims(op, rows);
    unsigned at = getEarliest(schedule, op, dims);
    while (at < schedule.inners.size() && schedule.inners[at].dims != dims)
      ++at;
    if (at == schedule.inners.size())
      schedule.inners.push_back({dims, {}});
    schedule.inners[at].ops.push_back(op);
    schedule.innerOf[op] = at;
  }
  delay(schedule, ops);
  return schedule;
}

SmallVector<std::string> fusion::getRows(FusedOp op) {
  SmallVector<std::string> rows;
  for (auto row : op.getRows().getAsRange<StringAttr>())
    rows.push_back(row.str());
  return rows;
}

SmallVector<Operation *> fusion::getScheduledOps(FusedOp op) {
  SmallVector<Operation *> ops;
  for (Operation &inner : op.getBody().front().without_terminator())
    if (!isNullary(&inner))
      ops.push_back(&inner);
  return ops;
}
