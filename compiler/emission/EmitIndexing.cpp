//===- EmitIndexing.cpp - Scatters and rotations --------------------------===//

#include "compiler/emission/FunctionEmitter.h"

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

/// Rows are added in order; threads share the innermost dimension, where the indices do not vary.
LogicalResult emission::emitScatter(FunctionEmitter &emitter, PutOp op) {
  if (isOneHot(emitter, op))
    return emitRows(emitter, op);
  Writer &out = emitter.out();
  Access updates = emitter.getAccess(op.getUpdates()), at = emitter.getAccess(op.getIndices());
  Access result = emitter.getAccess(op.getResult());
  NamedTensorType type = op.getResult().getType();
  std::string element = getElementType(type.getElementType());
  SmallVector<Loop> loops = makeLoops(getScatterSpace(emitter, op), {&updates, &at, &result});
  nameLoops(loops);
  out.line("tm::fill(" + result.pointer + ", " + emitter.sizes().getCount(type).str() + ", " +
           element + "(0));");
  bool isShared = !loops.empty() && !at.strides.count(loops.back().getKey()) &&
                  result.strides.count(loops.back().getKey());
  SmallVector<Loop> outer(loops.begin(), loops.end() - isShared);
  if (isShared) {
    Loop &last = loops.back();
    std::string start = last.variable + "0", size = last.size.str();
    out.line("#pragma omp parallel for");
    out.open("for (int64_t " + start + " = 0; " + start + " < " + size + "; " + start + " += 64)");
    last.variable = "(" + start + " + " + last.variable + ")";
  } else {
    out.open("");
  }
  openLoops(out, outer);
  int64_t dim = type.indexOf(op.getAlongAttr());
  std::string offset = emitter.getRankOffset(type, dim);
  std::string size = emitter.sizes().getDims(type)[dim].size.name;
  out.line("const int64_t at = " + getElement(at, outer) + (offset.empty() ? "" : " - " + offset) +
           ";");
  out.line("if (at < 0 || at >= " + size + ")");
  out.line("  continue;");
  if (isShared) {
    Loop &last = loops.back();
    std::string start = StringRef(last.variable).drop_front().split(' ').first.str();
    std::string inner = StringRef(last.variable).rsplit(' ').second.drop_back().str();
    out.line("const int64_t width = tm::min(" + last.size.str() + " - " + start +
             ", int64_t(64));");
    out.line("#pragma omp simd");
    out.line("for (int64_t " + inner + " = 0; " + inner + " < width; ++" + inner + ")");
    out.indent();
  }
  out.line(result.pointer + "[" + getOffset(result, loops) + " + " +
           scale("at", result.strides.lookup(op.getAlong())) +
           "] += " + getElement(updates, loops) + ";");
  if (isShared)
    out.unindent();
  closeLoops(out, outer);
  out.close();
  return success();
}

static std::string getPair(const std::string &pointer, const std::string &index) {
  return pointer + "[" + index + "]";
}

LogicalResult emission::emitRotary(FunctionEmitter &emitter, RotaryOp op) {
  NamedTensorType type = op.getType();
  Writer &out = emitter.out();
  Access from = emitter.getAccess(op.getInput()), to = emitter.getAccess(op.getResult());
  SmallVector<Index> others;
  Loop along;
  Extent size;
  for (Index &dim : emitter.getSpace(op.getInput())) {
    if (dim.key == op.getAlong())
      along = {{dim.key}, dim.size, emitter.names().pick(dim.key + "_at")};
    else if (dim.key == op.getDim())
      size = dim.size;
    else
      others.push_back(dim);
  }
  SmallVector<Loop> inner = makeLoops(others, {&from, &to});
  nameLoops(inner);
  std::string n = size.atom() + " / 2", element = getElementType(type.getElementType());
  std::string offset = emitter.getRankOffset(type, type.indexOf(op.getAlongAttr()));
  emitParallel(out, 1, emitter.sizes().getCount(type));
  openLoops(out, along);
  out.line(element + " cosines[" + n + "], sines[" + n + "];");
  out.line("tm::rotation(" + along.variable + (offset.empty() ? "" : " + " + offset) + ", " +
           std::to_string(op.getTheta().convertToDouble()) + ", " + n + ", cosines, sines);");
  openLoops(out, inner);
  SmallVector<Loop> at{along};
  llvm::append_range(at, inner);
  out.line("const " + element + " *from = " + from.pointer + " + " + getOffset(from, at) + ";");
  out.line(element + " *to = " + to.pointer + " + " + getOffset(to, at) + ";");
  Extent stride = from.strides.lookup(op.getDim());
  std::string first = op.getInterleaved() ? "2 * p" : "p";
  std::string second = op.getInterleaved() ? "(2 * p + 1)" : "(p + " + n + ")";
  if (op.getInterleaved() && !stride.isOne())
    first = "(" + first + ")";
  first = scale(first, stride);
  second =
      stride.isOne() ? StringRef(second).drop_front().drop_back().str() : scale(second, stride);
  out.line("#pragma omp simd");
  out.open("for (int64_t p = 0; p < " + n + "; ++p)");
  out.line("const " + element + " first = " + getPair("from", first) +
           ", second = " + getPair("from", second) + ";");
  // The inverse turns the other way.
  out.line(getPair("to", first) + " = first * cosines[p] " + (op.getInverse() ? "+" : "-") +
           " second * sines[p];");
  out.line(getPair("to", second) + " = second * cosines[p] " + (op.getInverse() ? "-" : "+") +
           " first * sines[p];");
  out.close();
  closeLoops(out, inner);
  closeLoops(out, along);
  return success();
}
