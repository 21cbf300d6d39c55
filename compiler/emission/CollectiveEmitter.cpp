//===- CollectiveEmitter.cpp - One value of a collective ------------------===//

#include "compiler/emission/CollectiveEmitter.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

int64_t CollectiveEmitter::getSplitDim(NamedTensorType a, NamedTensorType b) {
  for (auto [i, x, y] : llvm::enumerate(a.getShardingOrReplicated().getDimAxes(),
                                        b.getShardingOrReplicated().getDimAxes()))
    if (x.size() > y.size())
      return i;
  // Chunks of chunks: what is flat is the last dimension of what lies in memory. The shard phase
  // splits it further where nothing is padded alone.
  dist::ShardingAttr x = a.getShardingOrReplicated(), y = b.getShardingOrReplicated();
  return y.isFlat() && x.getFlatAxes().size() > y.getFlatAxes().size() ? x.getFlatFrom() : -1;
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

std::string CollectiveEmitter::start() {
  std::string function = isa<dist::AllGatherOp>(op)       ? "allGather"
                         : isa<dist::ReduceScatterOp>(op) ? "reduceScatter"
                         : isa<dist::AllReduceOp>(op)     ? "allReduce"
                                                          : "allToAll";
  std::string text =
      function + "(ctx, " + emitter.getGroup(axes) + ", " + getDType(to.getElementType());
  return isa<dist::ReduceScatterOp, dist::AllReduceOp>(op) ? text + ", " + getReduction() : text;
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

std::string emission::getArguments(const Part &part) {
  const Blocks &blocks = part.blocks;
  return part.in + ", " + part.out + ", " + blocks.outer.str() + ", " + blocks.d.str() + ", " +
         blocks.inner.str();
}

FailureOr<Part> CollectiveEmitter::gather() {
  int64_t dim = getSplitDim(from, to);
  Part part{emitter.getPointer(input), emitter.getPointer(result), {}, ""};
  if (dim >= 0) {
    part.blocks = getBlocks(from, dim);
    return part;
  }
  Extent rows, whole;
  getRow(rows, whole, part.blocks.d);
  if (std::string padded = getPadded(); !padded.empty()) {
    if (dist::getStartChannel(op))
      return op->emitError("cannot emit the start of a gather that has no room for its padding");
    part.after = "tm::copy(ctx, " + part.out + ", " + padded + ", " + whole.str() + ");";
    part.out = padded;
  }
  return part;
}

FailureOr<Part> CollectiveEmitter::scatter() {
  int64_t dim = getSplitDim(to, from);
  Part part{emitter.getPointer(input), emitter.getPointer(result), {}, ""};
  if (dim >= 0) {
    part.blocks = getBlocks(to, dim);
    return part;
  }
  Extent rows, whole;
  getRow(rows, whole, part.blocks.d);
  std::string padded = getPadded();
  padRow(part.in, padded, whole, part.blocks.d);
  if (!padded.empty())
    part.in = padded;
  return part;
}

FailureOr<Part> CollectiveEmitter::reduce() {
  std::string data = emitter.getPointer(result);
  if (memory::getPlace(input) != memory::getPlace(result))
    emitter.copyTo(input, data);
  return Part{data, data, {Extent(), Extent(), emitter.sizes().getCount(to)}, ""};
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
  if (gathered < 0 || split < 0 || from.getShardingOrReplicated().isFlat() ||
      to.getShardingOrReplicated().isFlat())
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
  out.line(start() + ", " + in + ", " + into + ", " + a.str() + ", " + s.str() + ", " + b.str() +
           ", " + g.str() + ", " + c.str() + ", " + (gatherFirst ? "true" : "false") + ");");
  return success();
}

//===--- Flat storage ----------------------------------------------------===//

void CollectiveEmitter::getRow(Extent &rows, Extent &whole, Extent &part) {
  NamedTensorType flat = getFlat();
  auto sharding = flat.getShardingOrReplicated();
  part = emitter.sizes().getDims(flat).back().size;
  NamedTensorType unflat = flat.withSharding(sharding.withoutFlat());
  for (auto [i, dim] : llvm::enumerate(emitter.sizes().getDims(unflat))) {
    Extent &side = static_cast<int64_t>(i) < sharding.getFlatFrom() ? rows : whole;
    side = side * dim.size;
  }
}

bool CollectiveEmitter::hasRows() const {
  return isa<dist::AllGatherOp, dist::ReduceScatterOp>(op) && dist::exchangesRows(from, to);
}

std::string CollectiveEmitter::getPadded() {
  auto places = op->getAttrOfType<ArrayAttr>(memory::kScratch);
  if (!places || cast<PlaceAttr>(places[index]).getSpace() == MemorySpace::Inline)
    return "";
  return emitter.getScratch(op, index, to.getElementType());
}

/// The padding takes part in the sum and stays 0.
void CollectiveEmitter::padRow(const std::string &source, const std::string &padded,
                               const Extent &whole, const Extent &part) {
  if (!padded.empty())
    out.line("tm::copy(ctx, " + padded + ", " + source + ", " + whole.str() + ");");
  out.line("tm::fill(ctx, " + (padded.empty() ? source : padded) + " + " + whole.str() + ", " +
           part.atom() + " * " + emitter.sizes().getDegree(axes).name + " - " + whole.str() + ", " +
           getElementType(to.getElementType()) + "(0));");
}

std::string CollectiveEmitter::openRows(const Extent &rows) {
  if (rows.isOne())
    return "";
  openLoops(out, Loop{{"rows"}, rows, "i"});
  return "i";
}

static std::string at(const std::string &pointer, const std::string &row, const Extent &stride) {
  return row.empty() ? pointer : pointer + " + " + scale(row, stride);
}

LogicalResult CollectiveEmitter::gatherRows() {
  std::string a = emitter.getPointer(input), b = emitter.getPointer(result), padded = getPadded();
  Extent rows, whole, part;
  getRow(rows, whole, part);
  std::string row = openRows(rows), target = padded.empty() ? at(b, row, whole) : padded;
  out.line(start() + ", " + at(a, row, emitter.getRowDistance(input)) + ", " + target + ", 1, " +
           part.str() + ", 1);");
  if (!padded.empty())
    out.line("tm::copy(ctx, " + at(b, row, whole) + ", " + padded + ", " + whole.str() + ");");
  if (!row.empty())
    out.close();
  return success();
}

LogicalResult CollectiveEmitter::scatterRows() {
  std::string a = emitter.getPointer(input), b = emitter.getPointer(result), padded = getPadded();
  Extent rows, whole, part;
  getRow(rows, whole, part);
  std::string row = openRows(rows), source = at(a, row, whole);
  padRow(source, padded, whole, part);
  out.line(start() + ", " + (padded.empty() ? source : padded) + ", " + at(b, row, part) + ", 1, " +
           part.str() + ", 1);");
  if (!row.empty())
    out.close();
  return success();
}

LogicalResult CollectiveEmitter::sliceFlat() {
  std::string a = emitter.getPointer(input), b = emitter.getPointer(result);
  Extent rows, whole, part;
  getRow(rows, whole, part);
  std::string row = openRows(rows);
  out.line("tm::copyShard(ctx, " + at(b, row, part) + ", " + at(a, row, whole) + ", " +
           whole.str() + ", " + part.str() + ", " + emitter.sizes().getPart(axes) + ");");
  if (!row.empty())
    out.close();
  return success();
}
