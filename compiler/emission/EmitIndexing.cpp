//===- EmitIndexing.cpp - Scatters and rotations --------------------------===//

#include "compiler/emission/FunctionEmitter.h"

#include "dialects/titan/Kernels/ScalarText.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

/// True if every element of the result takes at most one update: then it is an elementwise choice.
static bool isOneHot(FunctionEmitter &emitter, PutOp op) {
  Access result = makeAccess("", emitter.getSpace(op.getResult()));
  for (Value operand : {op.getUpdates(), op.getIndices()})
    for (const Index &dim : emitter.getSpace(operand))
      if (!result.strides.count(dim.key))
        return false;
  return true;
}

/// The dimensions of updates and indices together, those that the result lacks first.
static SmallVector<Index> getScatterSpace(FunctionEmitter &emitter, PutOp op) {
  Access result = makeAccess("", emitter.getSpace(op.getResult()));
  SmallVector<Index> summed, kept;
  llvm::StringSet<> seen;
  for (Value operand : {op.getUpdates(), op.getIndices()})
    for (const Index &dim : emitter.getSpace(operand))
      if (seen.insert(dim.key).second)
        (result.strides.count(dim.key) ? kept : summed).push_back(dim);
  llvm::append_range(summed, kept);
  return summed;
}

namespace {

/// result[..., at, ...] += updates, walked so that no two threads write one element and sums keep
/// their order: threads share the innermost dimension, where the indices do not vary.
class Scatter {
public:
  Scatter(FunctionEmitter &emitter, PutOp op)
      : out(emitter.out()), updates(emitter.getAccess(op.getUpdates())),
        at(emitter.getAccess(op.getIndices())), result(emitter.getAccess(op.getResult())),
        loops(makeLoops(getScatterSpace(emitter, op), {&updates, &at, &result})) {
    NamedTensorType type = op.getResult().getType();
    int64_t dim = type.indexOf(op.getAlongAttr());
    offset = emitter.getRankOffset(type, dim);
    size = emitter.sizes().getDims(type)[dim].size.name;
    stride = result.strides.lookup(op.getAlong());
    nameLoops(loops);
    isShared = !loops.empty() && !at.strides.count(loops.back().getKey()) &&
               result.strides.count(loops.back().getKey());
  }
  void emitForThreads();
  void emitForDevice();

private:
  ArrayRef<Loop> getSummed() const { return ArrayRef(loops).drop_back(isShared); }
  void emitIndex();
  void emitAdd();

  Writer &out;
  Access updates, at, result;
  SmallVector<Loop> loops;
  std::string offset, size;
  Extent stride;
  bool isShared;
};

} // namespace

void Scatter::emitIndex() {
  out.line("const int64_t at = " + getElement(at, getSummed()) +
           (offset.empty() ? "" : " - " + offset) + ";");
  out.line("if (at < 0 || at >= " + size + ")");
  out.line("  continue;");
}

void Scatter::emitAdd() {
  out.line(result.pointer + "[" + getOffset(result, loops) + " + " + scale("at", stride) +
           "] += " + getElement(updates, loops) + ";");
}

void Scatter::emitForThreads() {
  std::string inner, start, total;
  if (isShared) {
    Loop &last = loops.back();
    inner = last.variable;
    start = inner + "0";
    total = last.size.str();
    out.line("#pragma omp parallel for");
    out.open("for (int64_t " + start + " = 0; " + start + " < " + total + "; " + start + " += 64)");
    last.variable = "(" + start + " + " + inner + ")";
  }
  openLoops(out, getSummed());
  emitIndex();
  if (isShared) {
    out.line("const int64_t width = tm::min(" + total + " - " + start + ", int64_t(64));");
    out.line("#pragma omp simd");
    out.line("for (int64_t " + inner + " = 0; " + inner + " < width; ++" + inner + ")");
    out.indent();
  }
  emitAdd();
  if (isShared)
    out.unindent();
  closeLoops(out, getSummed());
  if (isShared)
    out.close();
}

void Scatter::emitForDevice() {
  openKernel(out, ArrayRef(loops).take_back(isShared));
  openLoops(out, getSummed());
  emitIndex();
  emitAdd();
  closeLoops(out, getSummed());
  closeKernel(out);
}

LogicalResult emission::emitScatter(FunctionEmitter &emitter, PutOp op) {
  if (isOneHot(emitter, op))
    return emitRows(emitter, op);
  NamedTensorType type = op.getResult().getType();
  if (type.getElementType().isBF16())
    return op.emitError("cannot emit sums of many updates in bf16: sum in f32 and cast");
  Scatter scatter(emitter, op);
  emitter.out().line("tm::fill(ctx, " + emitter.getPointer(op.getResult()) + ", " +
                     emitter.sizes().getCount(type).str() + ", " +
                     getElementType(type.getElementType()) + "(0));");
  if (emitter.isCuda())
    scatter.emitForDevice();
  else
    scatter.emitForThreads();
  return success();
}

namespace {

/// Emits one rotation. The loops walk everything but the pairs of `dim`.
class Rotation {
public:
  Rotation(FunctionEmitter &emitter, RotaryOp op);
  void emitForThreads(const Extent &count);
  void emitForDevice();

private:
  void emitPair(StringRef cosine, StringRef sine);
  void emitPointers(ArrayRef<Loop> at);
  std::string getAngle();

  Writer &out;
  RotaryOp op;
  Access from, to;
  Loop along;
  SmallVector<Loop> others;
  std::string half, element, number, offset; ///< element in memory, number in a register
  Extent stride;
};

} // namespace

Rotation::Rotation(FunctionEmitter &emitter, RotaryOp op)
    : out(emitter.out()), op(op), from(emitter.getAccess(op.getInput())),
      to(emitter.getAccess(op.getResult())), stride(from.strides.lookup(op.getDim())) {
  SmallVector<Index> space;
  for (Index &dim : emitter.getSpace(op.getInput())) {
    if (dim.key == op.getAlong())
      along = {{dim.key}, dim.size, emitter.names().pick(dim.key + "_at")};
    else if (dim.key == op.getDim())
      half = dim.size.atom() + " / 2";
    else
      space.push_back(dim);
  }
  others = makeLoops(space, {&from, &to});
  nameLoops(others);
  NamedTensorType type = op.getType();
  element = getElementType(type.getElementType());
  number = getRegisterType(type.getElementType());
  offset = emitter.getRankOffset(type, type.indexOf(op.getAlongAttr()));
}

/// Position and base, as the first arguments of the runtime's functions.
std::string Rotation::getAngle() {
  return along.variable + (offset.empty() ? "" : " + " + offset) + ", " +
         ir::getLiteral(op.getTheta().convertToDouble());
}

void Rotation::emitPointers(ArrayRef<Loop> at) {
  out.line("const " + element + " *from = " + from.pointer + " + " + getOffset(from, at) + ";");
  out.line(element + " *to = " + to.pointer + " + " + getOffset(to, at) + ";");
}

void Rotation::emitPair(StringRef cosine, StringRef sine) {
  std::string one = op.getInterleaved() ? "2 * p" : "p";
  std::string two = op.getInterleaved() ? "2 * p + 1" : "p + " + half;
  if (!stride.isOne()) {
    one = scale("(" + one + ")", stride);
    two = scale("(" + two + ")", stride);
  }
  out.line("const " + number + " first = from[" + one + "], second = from[" + two + "];");
  // The inverse turns the other way.
  out.line("to[" + one + "] = first * " + cosine + (op.getInverse() ? " + " : " - ") + "second * " +
           sine + ";");
  out.line("to[" + two + "] = second * " + cosine + (op.getInverse() ? " - " : " + ") + "first * " +
           sine + ";");
}

void Rotation::emitForThreads(const Extent &count) {
  emitParallel(out, 1, count);
  openLoops(out, along);
  out.line(number + " cosines[" + half + "], sines[" + half + "];");
  out.line("tm::rotation(" + getAngle() + ", " + half + ", cosines, sines);");
  openLoops(out, others);
  SmallVector<Loop> at{along};
  llvm::append_range(at, others);
  emitPointers(at);
  out.line("#pragma omp simd");
  out.open("for (int64_t p = 0; p < " + half + "; ++p)");
  emitPair("cosines[p]", "sines[p]");
  out.close();
  closeLoops(out, others);
  closeLoops(out, along);
}

void Rotation::emitForDevice() {
  SmallVector<Loop> at = others;
  at.push_back(along);
  SmallVector<Loop> all = at;
  all.push_back({{"pair"}, Extent(Factor{"(" + half + ")", 0}), "p"});
  openKernel(out, all);
  out.line(number + " cosine, sine;");
  out.line("tm::rotationAt(" + getAngle() + ", p, " + half + ", cosine, sine);");
  emitPointers(at);
  emitPair("cosine", "sine");
  closeKernel(out);
}

LogicalResult emission::emitRotary(FunctionEmitter &emitter, RotaryOp op) {
  Rotation rotation(emitter, op);
  if (emitter.isCuda())
    rotation.emitForDevice();
  else
    rotation.emitForThreads(emitter.sizes().getCount(op.getType()));
  return success();
}
