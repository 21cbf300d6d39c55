// Emits one operand of a collective.

#include "compiler/emission/CollectiveEmitter.h"
#include "dialects/dist/Analysis/CollectiveReport.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

TransferShape CollectiveEmitter::getTransferShape(NamedTensorType split, int64_t dim) {
  TransferShape shape;
  for (auto [i, local] : llvm::enumerate(emitter.sizes().getDims(split))) {
    SizeExpr &extent = static_cast<int64_t>(i) < dim   ? shape.outer
                       : static_cast<int64_t>(i) > dim ? shape.inner
                                                       : shape.sharded;
    extent = extent * local.size;
  }
  return shape;
}

bool CollectiveEmitter::isHeadTail(NamedTensorType split) {
  return llvm::any_of(axes, [&](Attribute axis) {
    return split.getShardingOrReplicated().getOrder(axis) == ShardOrder::HeadTail;
  });
}

std::string CollectiveEmitter::getCallHead() {
  std::string function = isa<dist::AllGatherOp>(op)       ? "allGather"
                         : isa<dist::ReduceScatterOp>(op) ? "reduceScatter"
                         : isa<dist::AllReduceOp>(op)     ? "allReduce"
                         : isa<dist::PermuteOp>(op)       ? "permute"
                                                          : "allToAll";
  std::string text =
      function + "(ctx, " + emitter.getGroup(axes) + ", " + getDType(to.getElementType());
  if (auto permute = dyn_cast<dist::PermuteOp>(op))
    return text + ", " + std::to_string(static_cast<int64_t>(permute.getOffset()));
  return dist::reduces(op) ? text + ", " + getReduction() : text;
}

std::string CollectiveEmitter::getReduction() {
  switch (from.getShardingOrReplicated().getPartialKind()) {
  case dist::ReductionKind::Sum:
    return "Reduction::Sum";
  case dist::ReductionKind::Max:
    return "Reduction::Max";
  case dist::ReductionKind::Min:
    return "Reduction::Min";
  }
  return "";
}

std::string emission::getArguments(const CollectiveOperand &operand) {
  const TransferShape &shape = operand.transfer;
  if (!operand.allToAllShape.empty())
    return operand.in + ", " + operand.out + ", " + operand.allToAllShape;
  return operand.in + ", " + operand.out + ", " + shape.outer.str() + ", " + shape.sharded.str() +
         ", " + shape.inner.str() + (operand.isHeadTail ? ", ShardOrder::HeadTail" : "");
}

FailureOr<CollectiveOperand> CollectiveEmitter::gather() {
  int64_t dim = dist::getSplitDim(from, to);
  CollectiveOperand operand{emitter.getPointer(input), emitter.getPointer(result), {}, ""};
  if (dim >= 0) {
    operand.transfer = getTransferShape(from, dim);
    operand.isHeadTail = isHeadTail(from);
    return operand;
  }
  SizeExpr rows, whole;
  getRowSizes(rows, whole, operand.transfer.sharded);
  if (std::string padded = getPaddedScratch(); !padded.empty()) {
    if (dist::getStartChannel(op))
      return op->emitError("cannot emit the start of a gather that has no scratch for its padding");
    operand.after = "tm::copy(ctx, " + operand.out + ", " + padded + ", " + whole.str() + ");";
    operand.out = padded;
  }
  return operand;
}

FailureOr<CollectiveOperand> CollectiveEmitter::scatter() {
  int64_t dim = dist::getSplitDim(to, from);
  CollectiveOperand operand{emitter.getPointer(input), emitter.getPointer(result), {}, ""};
  if (dim >= 0) {
    operand.transfer = getTransferShape(to, dim);
    operand.isHeadTail = isHeadTail(to);
    return operand;
  }
  SizeExpr rows, whole;
  getRowSizes(rows, whole, operand.transfer.sharded);
  std::string padded = getPaddedScratch();
  padRow(operand.in, padded, whole, operand.transfer.sharded);
  if (!padded.empty())
    operand.in = padded;
  return operand;
}

FailureOr<CollectiveOperand> CollectiveEmitter::reduce() {
  std::string data = emitter.getPointer(result);
  if (memory::getAllocRef(input) != memory::getAllocRef(result))
    emitter.copyTo(input, data);
  return CollectiveOperand{data, data, {SizeExpr(), SizeExpr(), emitter.sizes().getCount(to)}, ""};
}

LogicalResult CollectiveEmitter::makePartial() {
  std::string data = emitter.getPointer(result);
  if (memory::getAllocRef(input) != memory::getAllocRef(result))
    emitter.copyTo(input, data);
  out.line("if (" + emitter.sizes().getShardIndex(axes) + " != 0)");
  out.line("  tm::fill(ctx, " + data + ", " + emitter.sizes().getCount(to).str() + ", " +
           getElementType(to.getElementType()) + "(0));");
  return success();
}

LogicalResult CollectiveEmitter::localSlice() {
  int64_t dim = dist::getSplitDim(to, from);
  if (dim < 0)
    return sliceFlat();
  TransferShape shape = getTransferShape(to, dim);
  SizeFactor degree = emitter.sizes().getDegree(axes);
  std::string source = emitter.getPointer(input), target = emitter.getPointer(result);
  SizeExpr block = shape.sharded * shape.inner;
  std::string shardIndex = "(" + emitter.sizes().getShardIndex(axes) + ")";
  Loop outer{{"outer"}, shape.outer, "i"};
  bool hasLoop = !shape.outer.isOne();
  if (hasLoop) {
    openLoops(out, outer);
    source += " + i * " + (block * SizeExpr(degree)).atom();
    target += " + " + scale("i", block);
  }
  if (isHeadTail(to))
    out.line("tm::copyShard(ctx, " + target + ", " + source + ", getShard(" +
             (block * SizeExpr(degree)).str() + ", {{" + degree.name + ", " + shardIndex +
             ", ShardOrder::HeadTail}}));");
  else
    out.line("tm::copy(ctx, " + target + ", " + source + " + " + scale(shardIndex, block) + ", " +
             block.str() + ");");
  if (hasLoop)
    closeLoops(out, outer);
  return success();
}

/// Converts the local shape [a, s, b, g, c] to [a, s / ranks, b, g * ranks, c]: dimension s becomes
/// sharded, and dimension g is gathered. Dimension g may also precede s.
FailureOr<CollectiveOperand> CollectiveEmitter::allToAll() {
  int64_t gathered = dist::getSplitDim(from, to), split = dist::getSplitDim(to, from);
  if (isHeadTail(from) || isHeadTail(to))
    return op->emitError("cannot emit an all-to-all of head-tail order; gather and slice instead");
  if (gathered < 0 || split < 0 || from.getShardingOrReplicated().isFlat() ||
      to.getShardingOrReplicated().isFlat())
    return op->emitError("cannot emit an all-to-all of flat storage");
  bool gatherFirst = gathered < split;
  int64_t first = std::min(gathered, split), second = std::max(gathered, split);
  SizeExpr a, b, c, s, g;
  for (auto [i, local] : llvm::enumerate(emitter.sizes().getDims(from))) {
    int64_t at = i;
    SizeExpr &extent = at == gathered ? g : at == split ? s : at < first ? a : at < second ? b : c;
    extent = extent * local.size;
  }
  return CollectiveOperand{emitter.getPointer(input),
                           emitter.getPointer(result),
                           {},
                           "",
                           a.str() + ", " + s.str() + ", " + b.str() + ", " + g.str() + ", " +
                               c.str() + ", " + (gatherFirst ? "true" : "false")};
}

FailureOr<CollectiveOperand> CollectiveEmitter::permute() {
  SizeExpr count = emitter.sizes().getCount(to);
  return CollectiveOperand{
      emitter.getPointer(input), emitter.getPointer(result), {SizeExpr(), SizeExpr(), count}, ""};
}

// Flat storage

void CollectiveEmitter::getRowSizes(SizeExpr &rows, SizeExpr &whole, SizeExpr &shard) {
  NamedTensorType flat = getFlat();
  auto sharding = flat.getShardingOrReplicated();
  shard = emitter.sizes().getDims(flat).back().size;
  NamedTensorType unflat = flat.withSharding(sharding.withoutFlat());
  for (auto [i, dim] : llvm::enumerate(emitter.sizes().getDims(unflat))) {
    SizeExpr &side = static_cast<int64_t>(i) < sharding.getFlatFrom() ? rows : whole;
    side = side * dim.size;
  }
}

bool CollectiveEmitter::hasRows() const {
  return isa<dist::AllGatherOp, dist::ReduceScatterOp>(op) && dist::isRowwiseCollective(from, to);
}

std::string CollectiveEmitter::getPaddedScratch() {
  auto refs = op->getAttrOfType<ArrayAttr>(memory::kScratch);
  if (!refs || cast<AllocRefAttr>(refs[index]).getSpace() == MemorySpace::Inline)
    return "";
  return emitter.getScratch(op, index, to.getElementType());
}

/// Fills the padding with 0, which the reduction preserves.
void CollectiveEmitter::padRow(const std::string &source, const std::string &padded,
                               const SizeExpr &whole, const SizeExpr &shard) {
  if (!padded.empty())
    out.line("tm::copy(ctx, " + padded + ", " + source + ", " + whole.str() + ");");
  out.line("tm::fill(ctx, " + (padded.empty() ? source : padded) + " + " + whole.str() + ", " +
           shard.atom() + " * " + emitter.sizes().getDegree(axes).name + " - " + whole.str() +
           ", " + getElementType(to.getElementType()) + "(0));");
}

std::string CollectiveEmitter::openRows(const SizeExpr &rows) {
  if (rows.isOne())
    return "";
  openLoops(out, Loop{{"rows"}, rows, "i"});
  return "i";
}

/// A pointer to a row of flat storage; `row` is the loop variable, or empty for a single row.
static std::string getRowPointer(const std::string &pointer, const std::string &row,
                                 const SizeExpr &stride) {
  return row.empty() ? pointer : pointer + " + " + scale(row, stride);
}

LogicalResult CollectiveEmitter::gatherRows() {
  std::string inputPointer = emitter.getPointer(input), resultPointer = emitter.getPointer(result),
              padded = getPaddedScratch();
  SizeExpr rows, whole, shard;
  getRowSizes(rows, whole, shard);
  std::string row = openRows(rows),
              target = padded.empty() ? getRowPointer(resultPointer, row, whole) : padded;
  out.line(getCallHead() + ", " + getRowPointer(inputPointer, row, emitter.getRowStride(input)) +
           ", " + target + ", 1, " + shard.str() + ", 1);");
  if (!padded.empty())
    out.line("tm::copy(ctx, " + getRowPointer(resultPointer, row, whole) + ", " + padded + ", " +
             whole.str() + ");");
  if (!row.empty())
    out.close();
  return success();
}

LogicalResult CollectiveEmitter::scatterRows() {
  std::string inputPointer = emitter.getPointer(input), resultPointer = emitter.getPointer(result),
              padded = getPaddedScratch();
  SizeExpr rows, whole, shard;
  getRowSizes(rows, whole, shard);
  std::string row = openRows(rows), source = getRowPointer(inputPointer, row, whole);
  padRow(source, padded, whole, shard);
  out.line(getCallHead() + ", " + (padded.empty() ? source : padded) + ", " +
           getRowPointer(resultPointer, row, shard) + ", 1, " + shard.str() + ", 1);");
  if (!row.empty())
    out.close();
  return success();
}

LogicalResult CollectiveEmitter::sliceFlat() {
  std::string inputPointer = emitter.getPointer(input), resultPointer = emitter.getPointer(result);
  SizeExpr rows, whole, shard;
  getRowSizes(rows, whole, shard);
  std::string row = openRows(rows);
  out.line("tm::copyShard(ctx, " + getRowPointer(resultPointer, row, shard) + ", " +
           getRowPointer(inputPointer, row, whole) + ", " + whole.str() + ", " + shard.str() +
           ", " + emitter.sizes().getShardIndex(axes) + ");");
  if (!row.empty())
    out.close();
  return success();
}
