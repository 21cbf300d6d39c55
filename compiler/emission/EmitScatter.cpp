//===- EmitScatter.cpp - Sums into places that an integer tensor names ----===//

#include "compiler/emission/FunctionEmitter.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

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
/// their order: threads share the innermost dimension where the indices do not vary in it (rows of
/// a table), else all dimensions that the result has.
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
  void emit(bool isCuda, const Extent &work);

private:
  void emitForThreads();
  void emitForDevice();
  void emitByElement(bool isCuda, const Extent &work);
  ArrayRef<Loop> getSummed() const { return ArrayRef(loops).drop_back(); }
  void emitIndex();
  void emitAdd();
  /// The same, where the index is one of the result's.
  void emitChecked();

  Writer &out;
  Access updates, at, result;
  SmallVector<Loop> loops;
  std::string offset, size;
  Extent stride;
  bool isShared;
};

} // namespace

void Scatter::emitIndex() {
  out.line("const int64_t at = " + getElement(at, loops) + (offset.empty() ? "" : " - " + offset) +
           ";");
}

void Scatter::emitAdd() {
  out.line(result.pointer + "[" + getOffset(result, loops) + " + " + scale("at", stride) +
           "] += " + getElement(updates, loops) + ";");
}

void Scatter::emitChecked() {
  out.line("if (at >= 0 && at < " + size + ")");
  out.indent();
  emitAdd();
  out.unindent();
}

void Scatter::emitForThreads() {
  Loop &last = loops.back();
  std::string inner = last.variable, start = inner + "0", total = last.size.str();
  out.line("#pragma omp parallel for");
  out.open("for (int64_t " + start + " = 0; " + start + " < " + total + "; " + start + " += 64)");
  last.variable = "(" + start + " + " + inner + ")";
  openLoops(out, getSummed());
  emitIndex();
  out.line("if (at < 0 || at >= " + size + ")");
  out.line("  continue;");
  out.line("const int64_t width = tm::min(" + total + " - " + start + ", int64_t(64));");
  out.line("#pragma omp simd");
  out.line("for (int64_t " + inner + " = 0; " + inner + " < width; ++" + inner + ")");
  out.indent();
  emitAdd();
  out.unindent();
  closeLoops(out, getSummed());
  out.close();
}

void Scatter::emitForDevice() {
  openKernel(out, ArrayRef(loops).take_back());
  openLoops(out, getSummed());
  emitIndex();
  emitChecked();
  closeLoops(out, getSummed());
  closeKernel(out);
}

void Scatter::emitByElement(bool isCuda, const Extent &work) {
  SmallVector<Loop> kept, summed;
  for (const Loop &loop : loops)
    (result.strides.count(loop.getKey()) ? kept : summed).push_back(loop);
  if (isCuda) {
    openKernel(out, kept);
  } else {
    emitParallel(out, kept.size(), work);
    openScope(out, kept);
  }
  openLoops(out, summed);
  emitIndex();
  emitChecked();
  closeLoops(out, summed);
  if (isCuda)
    closeKernel(out);
  else
    closeScope(out, kept);
}

void Scatter::emit(bool isCuda, const Extent &work) {
  if (!isShared)
    emitByElement(isCuda, work);
  else if (isCuda)
    emitForDevice();
  else
    emitForThreads();
}

/// What the sums begin with: zeros or a tensor.
static void emitBeginning(FunctionEmitter &emitter, PutOp op) {
  NamedTensorType type = op.getResult().getType();
  if (op.getInto())
    emitJoined(emitter, op);
  else
    emitter.out().line("tm::fill(ctx, " + emitter.getPointer(op.getResult()) + ", " +
                       emitter.sizes().getCount(type).str() + ", " +
                       getElementType(type.getElementType()) + "(0));");
}

LogicalResult emission::emitScatter(FunctionEmitter &emitter, PutOp op) {
  if (op.isOneHot())
    return emitRows(emitter, op);
  NamedTensorType type = op.getResult().getType();
  if (type.getElementType().isBF16())
    return op.emitError("cannot emit sums of many updates in bf16: sum in f32 and cast");
  Scatter scatter(emitter, op);
  emitBeginning(emitter, op);
  scatter.emit(emitter.isCuda(), emitter.sizes().getCount(op.getUpdates().getType()));
  return success();
}
