// Emits rotary positional embeddings, insertions of slices at a start, and checks of indices.

#include "compiler/emission/FunctionEmitter.h"

#include "dialects/titan/Kernels/ScalarText.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

namespace {

/// Emits one `titan.rotary`. The loops iterate over all dimensions except `dim`, whose elements are
/// rotated in pairs.
class Rotation {
public:
  Rotation(FunctionEmitter &emitter, RotaryOp op);
  void emitForThreads(const SizeExpr &count);
  void emitForDevice();

private:
  void emitPair(StringRef cosine, StringRef sine);
  void emitPointers(ArrayRef<Loop> at);
  void emitFrequencies();
  std::string getAngle();

  Writer &out;
  RotaryOp op;
  Access from, to;
  SmallVector<Loop> positions; ///< the dimensions on which the position depends
  SmallVector<Loop> others;
  std::string half;                      ///< the number of pairs
  std::string elementType, registerType; ///< C++ types of an element in memory, in a register
  std::string position;                  ///< of the element
  std::string frequencies;               ///< empty: none
  SizeExpr stride;
};

} // namespace

/// The first index of the chunk to which the indices of the loops `at` belong.
static std::string getStart(FunctionEmitter &emitter, Value start, ArrayRef<Loop> at) {
  std::string scalar = emitter.getInlineScalar(start);
  return scalar.empty() ? getElement(emitter.getAccess(start), at) : scalar;
}

Rotation::Rotation(FunctionEmitter &emitter, RotaryOp op)
    : out(emitter.out()), op(op), from(emitter.getAccess(op.getInput())),
      to(emitter.getAccess(op.getResult())), stride(from.strides.lookup(op.getDim())) {
  SmallVector<IndexDim> space;
  Loop along;
  for (IndexDim &dim : emitter.getSpace(op.getInput())) {
    if (dim.key == op.getAlong())
      along = {{dim.key}, dim.size, emitter.names().pick(dim.key + "_at")};
    else if (dim.key == op.getDim())
      half = dim.size.atom() + " / 2";
    else
      space.push_back(dim);
  }
  const Access start = op.getStart() ? emitter.getAccess(op.getStart()) : Access();
  others = makeLoops(space, {&from, &to, &start});
  nameLoops(others);
  auto isOfStart = [&](const Loop &loop) { return start.strides.count(loop.getKey()); };
  llvm::copy_if(others, std::back_inserter(positions), isOfStart);
  llvm::erase_if(others, isOfStart);
  NamedTensorType type = op.getType();
  elementType = getElementType(type.getElementType());
  registerType = getRegisterType(type.getElementType());
  position = emitter.getGlobalIndex(type, type.findDimIndex(op.getAlongAttr()), along.variable);
  if (Value first = op.getStart())
    position += " + " + getStart(emitter, first, positions);
  positions.push_back(along);
  if (op.getFrequencies())
    frequencies = emitter.names().pick("frequencies");
}

/// The table for getAngle(), if theta alone does not determine the frequencies.
void Rotation::emitFrequencies() {
  if (frequencies.empty())
    return;
  SmallVector<std::string> literals;
  for (double frequency : op.getRadians())
    literals.push_back(ir::getLiteral(frequency));
  out.line("const double " + frequencies + "[] = {" + llvm::join(literals, ", ") + "};");
}

/// Position and frequencies, as the first arguments of the runtime functions.
std::string Rotation::getAngle() {
  return position + ", " +
         (frequencies.empty() ? ir::getLiteral(op.getTheta()->convertToDouble()) : frequencies);
}

void Rotation::emitPointers(ArrayRef<Loop> at) {
  out.line("const " + elementType + " *from = " + from.pointer + " + " + getOffset(from, at) + ";");
  out.line(elementType + " *to = " + to.pointer + " + " + getOffset(to, at) + ";");
}

void Rotation::emitPair(StringRef cosine, StringRef sine) {
  std::string firstIndex = op.getInterleaved() ? "2 * p" : "p";
  std::string secondIndex = op.getInterleaved() ? "2 * p + 1" : "p + " + half;
  if (!stride.isOne()) {
    firstIndex = scale("(" + firstIndex + ")", stride);
    secondIndex = scale("(" + secondIndex + ")", stride);
  }
  out.line("const " + registerType + " first = from[" + firstIndex + "], second = from[" +
           secondIndex + "];");
  // The inverse rotates by the negative angle.
  out.line("to[" + firstIndex + "] = first * " + cosine + (op.getInverse() ? " + " : " - ") +
           "second * " + sine + ";");
  out.line("to[" + secondIndex + "] = second * " + cosine + (op.getInverse() ? " - " : " + ") +
           "first * " + sine + ";");
}

void Rotation::emitForThreads(const SizeExpr &count) {
  emitFrequencies();
  emitParallel(out, static_cast<int>(positions.size()), count);
  openLoops(out, positions);
  out.line(registerType + " cosines[" + half + "], sines[" + half + "];");
  out.line("tm::rotation(" + getAngle() + ", " + half + ", cosines, sines);");
  openLoops(out, others);
  SmallVector<Loop> at = positions;
  llvm::append_range(at, others);
  emitPointers(at);
  out.line("#pragma omp simd");
  out.open("for (int64_t p = 0; p < " + half + "; ++p)");
  emitPair("cosines[p]", "sines[p]");
  out.close();
  closeLoops(out, others);
  closeLoops(out, positions);
}

void Rotation::emitForDevice() {
  SmallVector<Loop> at = others;
  llvm::append_range(at, positions);
  SmallVector<Loop> all = at;
  all.push_back({{"pair"}, SizeExpr(SizeFactor{"(" + half + ")", 0}), "p"});
  openKernel(out, all);
  emitFrequencies();
  out.line(registerType + " cosine, sine;");
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

/// Each rank writes the elements of the slice that its shard of the result contains.
LogicalResult emission::emitInsertSlice(FunctionEmitter &emitter, InsertSliceOp op) {
  emitAccumulator(emitter, op);
  Writer &out = emitter.out();
  NamedTensorType type = op.getResult().getType();
  const int64_t dimIndex = type.findDimIndex(op.getDimAttr());
  const Access from = emitter.getAccess(op.getInput()), to = emitter.getAccess(op.getResult());
  const Access starts = emitter.getAccess(op.getStart());
  SmallVector<IndexDim> space;
  Loop along;
  for (const IndexDim &dim : emitter.getSpace(op.getInput()))
    if (dim.key == op.getDim())
      along = {{dim.key}, dim.size, emitter.names().pick(dim.key + "_at")};
    else
      space.push_back(dim);
  SmallVector<Loop> others = makeLoops(space, {&from, &to, &starts}), all{along};
  nameLoops(others);
  llvm::append_range(all, others);
  const std::string start = getStart(emitter, op.getStart(), others),
                    local = emitter.getLocalIndex(type, dimIndex, start + " + " + along.variable);
  const SizeExpr size = emitter.sizes().getDims(type)[dimIndex].size;
  if (emitter.isCuda()) {
    openKernel(out, all);
  } else {
    emitParallel(out, static_cast<int>(all.size()),
                 emitter.sizes().getCount(op.getInput().getType()));
    openLoops(out, all);
  }
  out.line("const int64_t to = " + local + ";");
  out.line("if (to >= 0 && to < " + size.str() + ")");
  std::string offset = scale("to", to.strides.lookup(op.getDim()));
  if (std::string rest = getOffset(to, others); rest != "0")
    offset += " + " + rest;
  out.line("  " + to.pointer + "[" + offset + "] = " + from.pointer + "[" + getOffset(from, all) +
           "];");
  if (emitter.isCuda())
    closeKernel(out);
  else
    closeLoops(out, all);
  return success();
}

/// The result is a view of the operand, so the indices are contiguous in one allocation.
LogicalResult emission::emitCheckIndex(FunctionEmitter &emitter, CheckIndexOp op) {
  emitter.out().line("tm::checkIndices(ctx, " + emitter.getPointer(op.getInput()) + ", " +
                     emitter.sizes().getCount(op.getInput().getType()).str() + ", " +
                     std::to_string(op.getSize()) + ", " + quote(op.getAlong()) + ");");
  return success();
}
