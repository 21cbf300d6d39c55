//===- EmitCollective.cpp - Calls of the runtime's collectives ------------===//

#include "compiler/emission/FunctionEmitter.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

namespace {

/// What one collective moves: block `[outer, d, inner]` of a dimension, or rows of flat storage.
struct Blocks {
  Extent outer, inner;
  Extent d; ///< the split dimension's local size on the side where it is split
};

class CollectiveEmitter {
public:
  CollectiveEmitter(FunctionEmitter &emitter, Operation *op)
      : emitter(emitter), out(emitter.out()), op(op), input(op->getOperand(0)),
        result(op->getResult(0)), from(cast<NamedTensorType>(input.getType())),
        to(cast<NamedTensorType>(result.getType())), axes(op->getAttrOfType<ArrayAttr>("axes")) {}

  LogicalResult allGather();
  LogicalResult reduceScatter();
  LogicalResult allReduce();
  LogicalResult allToAll();
  LogicalResult localSlice();
  LogicalResult makePartial();

private:
  /// The dimension whose axis list differs and is longer in `a`; -1 where only flat axes differ.
  static int64_t getSplitDim(NamedTensorType a, NamedTensorType b);
  Blocks getBlocks(NamedTensorType split, int64_t dim);
  std::string start(StringRef function);
  std::string getReduction();
  LogicalResult gatherFlat();
  LogicalResult scatterFlat();
  LogicalResult sliceFlat();
  /// Opens a loop over the rows above flat storage and returns its variable; empty for one row.
  std::string openRows(NamedTensorType flat, Extent &whole, Extent &part);

  FunctionEmitter &emitter;
  Writer &out;
  Operation *op;
  Value input, result;
  NamedTensorType from, to;
  ArrayAttr axes;
};

} // namespace

int64_t CollectiveEmitter::getSplitDim(NamedTensorType a, NamedTensorType b) {
  for (auto [i, x, y] : llvm::enumerate(a.getShardingOrReplicated().getDimAxes(),
                                        b.getShardingOrReplicated().getDimAxes()))
    if (x.size() > y.size())
      return i;
  return -1;
}

Blocks CollectiveEmitter::getBlocks(NamedTensorType split, int64_t dim) {
  Blocks blocks;
  for (auto [i, local] : llvm::enumerate(emitter.sizes().getDims(split))) {
    Extent &part = static_cast<int64_t>(i) < dim   ? blocks.outer
                   : static_cast<int64_t>(i) > dim ? blocks.inner
                                                   : blocks.d;
    part = part * local.size;
  }
  return blocks;
}

std::string CollectiveEmitter::start(StringRef function) {
  return (function + "(ctx, " + emitter.getGroup(axes) + ", " + getDType(to.getElementType()))
      .str();
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

static std::string getArguments(const Blocks &blocks) {
  return blocks.outer.str() + ", " + blocks.d.str() + ", " + blocks.inner.str() + ");";
}

LogicalResult CollectiveEmitter::allGather() {
  int64_t dim = getSplitDim(from, to);
  if (dim < 0)
    return gatherFlat();
  std::string a = emitter.getPointer(input), b = emitter.getPointer(result);
  out.line(start("allGather") + ", " + a + ", " + b + ", " + getArguments(getBlocks(from, dim)));
  return success();
}

LogicalResult CollectiveEmitter::reduceScatter() {
  int64_t dim = getSplitDim(to, from);
  if (dim < 0)
    return scatterFlat();
  std::string a = emitter.getPointer(input), b = emitter.getPointer(result);
  out.line(start("reduceScatter") + ", " + getReduction() + ", " + a + ", " + b + ", " +
           getArguments(getBlocks(to, dim)));
  return success();
}

LogicalResult CollectiveEmitter::allReduce() {
  std::string data = emitter.getPointer(result);
  if (memory::getPlace(input) != memory::getPlace(result))
    emitter.copyTo(input, data);
  out.line(start("allReduce") + ", " + getReduction() + ", " + data + ", " +
           emitter.sizes().getCount(to).str() + ");");
  return success();
}

LogicalResult CollectiveEmitter::makePartial() {
  std::string data = emitter.getPointer(result);
  if (memory::getPlace(input) != memory::getPlace(result))
    emitter.copyTo(input, data);
  out.line("if (" + emitter.sizes().getPart(axes) + " != 0)");
  out.line("  tm::fill(ctx, " + data + ", " + emitter.sizes().getCount(to).str() + ", " +
           getElementType(to.getElementType()) + "(0));");
  return success();
}

LogicalResult CollectiveEmitter::localSlice() {
  int64_t dim = getSplitDim(to, from);
  if (dim < 0)
    return sliceFlat();
  Blocks blocks = getBlocks(to, dim);
  Factor degree = emitter.sizes().getDegree(axes);
  std::string a = emitter.getPointer(input), b = emitter.getPointer(result);
  Extent block = blocks.d * blocks.inner;
  std::string part = "(" + emitter.sizes().getPart(axes) + ")";
  Loop outer{{"outer"}, blocks.outer, "i"};
  bool many = !blocks.outer.isOne();
  if (many)
    openLoops(out, outer);
  std::string whole = many ? " + i * " + (block * Extent(degree)).atom() : "";
  out.line("tm::copy(ctx, " + b + (many ? " + " + scale("i", block) : "") + ", " + a + whole +
           " + " + scale(part, block) + ", " + block.str() + ");");
  if (many)
    closeLoops(out, outer);
  return success();
}

/// In [a, s, b, gLocal, c] -> [a, s / ranks, b, g, c], or with g before s.
LogicalResult CollectiveEmitter::allToAll() {
  int64_t gathered = getSplitDim(from, to), split = getSplitDim(to, from);
  if (gathered < 0 || split < 0)
    return op->emitError("cannot emit an all-to-all of flat storage");
  bool gatherFirst = gathered < split;
  int64_t first = std::min(gathered, split), second = std::max(gathered, split);
  Extent a, b, c, s, g;
  for (auto [i, local] : llvm::enumerate(emitter.sizes().getDims(from))) {
    int64_t at = i;
    Extent &part = at == gathered ? g : at == split ? s : at < first ? a : at < second ? b : c;
    part = part * local.size;
  }
  std::string in = emitter.getPointer(input), into = emitter.getPointer(result);
  out.line(start("allToAll") + ", " + in + ", " + into + ", " + a.str() + ", " + s.str() + ", " +
           b.str() + ", " + g.str() + ", " + c.str() + ", " + (gatherFirst ? "true" : "false") +
           ");");
  return success();
}

//===--- Flat storage ----------------------------------------------------===//

std::string CollectiveEmitter::openRows(NamedTensorType flat, Extent &whole, Extent &part) {
  auto sharding = flat.getShardingOrReplicated();
  SmallVector<LocalDim> dims = emitter.sizes().getDims(flat);
  part = dims.back().size;
  NamedTensorType unflat = flat.withSharding(sharding.withoutFlat());
  SmallVector<LocalDim> below = emitter.sizes().getDims(unflat);
  Extent rows;
  for (auto [i, dim] : llvm::enumerate(below))
    (static_cast<int64_t>(i) < sharding.getFlatFrom() ? rows : whole) =
        (static_cast<int64_t>(i) < sharding.getFlatFrom() ? rows : whole) * dim.size;
  if (rows.isOne())
    return "";
  openLoops(out, Loop{{"rows"}, rows, "i"});
  return "i";
}

static std::string at(const std::string &pointer, const std::string &row, const Extent &stride) {
  return row.empty() ? pointer : pointer + " + " + scale(row, stride);
}

LogicalResult CollectiveEmitter::gatherFlat() {
  if (to.getShardingOrReplicated().isFlat())
    return op->emitError("cannot emit a gather of some of the axes of flat storage");
  std::string a = emitter.getPointer(input), b = emitter.getPointer(result);
  bool scratch = op->hasAttr(memory::kScratch);
  std::string padded = scratch ? emitter.getScratch(op, 0, to.getElementType()) : std::string();
  Extent whole, part;
  std::string row = openRows(from, whole, part);
  std::string target = scratch ? padded : at(b, row, whole);
  out.line(start("allGather") + ", " + at(a, row, part) + ", " + target + ", 1, " + part.str() +
           ", 1);");
  if (scratch)
    out.line("tm::copy(ctx, " + at(b, row, whole) + ", " + padded + ", " + whole.str() + ");");
  if (!row.empty())
    out.close();
  return success();
}

LogicalResult CollectiveEmitter::scatterFlat() {
  if (from.getShardingOrReplicated().isFlat())
    return op->emitError("cannot emit a scatter to some of the axes of flat storage");
  std::string a = emitter.getPointer(input), b = emitter.getPointer(result);
  bool scratch = op->hasAttr(memory::kScratch);
  std::string padded = scratch ? emitter.getScratch(op, 0, to.getElementType()) : std::string();
  Extent whole, part;
  std::string row = openRows(to, whole, part);
  std::string source = scratch ? padded : at(a, row, whole);
  if (scratch)
    out.line("tm::copy(ctx, " + padded + ", " + at(a, row, whole) + ", " + whole.str() + ");");
  // The padding takes part in the sum and stays 0.
  out.line("tm::fill(ctx, " + source + " + " + whole.str() + ", " + part.atom() + " * " +
           emitter.sizes().getDegree(axes).name + " - " + whole.str() + ", " +
           getElementType(to.getElementType()) + "(0));");
  out.line(start("reduceScatter") + ", " + getReduction() + ", " + source + ", " +
           at(b, row, part) + ", 1, " + part.str() + ", 1);");
  if (!row.empty())
    out.close();
  return success();
}

LogicalResult CollectiveEmitter::sliceFlat() {
  if (from.getShardingOrReplicated().isFlat())
    return op->emitError("cannot emit a further split of flat storage");
  std::string a = emitter.getPointer(input), b = emitter.getPointer(result);
  Extent whole, part;
  std::string row = openRows(to, whole, part);
  out.line("tm::takePart(ctx, " + at(b, row, part) + ", " + at(a, row, whole) + ", " + whole.str() +
           ", " + part.str() + ", " + emitter.sizes().getPart(axes) + ");");
  if (!row.empty())
    out.close();
  return success();
}

LogicalResult emission::emitCollective(FunctionEmitter &emitter, Operation *op) {
  CollectiveEmitter collective(emitter, op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](dist::AllGatherOp) { return collective.allGather(); })
      .Case([&](dist::ReduceScatterOp) { return collective.reduceScatter(); })
      .Case([&](dist::AllReduceOp) { return collective.allReduce(); })
      .Case([&](dist::AllToAllOp) { return collective.allToAll(); })
      .Case([&](dist::LocalSliceOp) { return collective.localSlice(); })
      .Case([&](dist::MakePartialOp) { return collective.makePartial(); })
      .Default([&](Operation *) {
        return LogicalResult(op->emitError("cannot emit '") << op->getName() << "'");
      });
}
