// Sums over dimensions.
//
// Separate reductions, and contractions that are not matrix products: sums of products of one or
// two tensors. Their order never depends on the number of threads, so replicas stay bitwise equal.

#include "compiler/emission/FunctionEmitter.h"
#include "compiler/emission/Sums.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

namespace {

/// Emits one reduction with named loops.
class ReductionEmitter {
public:
  ReductionEmitter(FunctionEmitter &emitter, Reduction &reduction)
      : out(emitter.out()), reduction(reduction), isCuda(emitter.isCuda()) {}
  void emit();

private:
  bool emitPlainSum();
  void emitFullReduction();
  void emitColumns();
  void emitColumnSums(const std::string &column, ArrayRef<Loop> at);
  void emitExactColumns(const std::string &loop, const std::string &element, ArrayRef<Loop> at);
  void emitPoints();
  void emitThreads();
  std::string getTerm(ArrayRef<Loop> loops);
  std::string combine(const std::string &sum, const std::string &term);
  std::string getNeutral();
  std::string getStore() { return reduction.accumulates ? " += " : " = "; }
  SizeExpr getCount();
  bool isRoundedSum() const {
    return reduction.kind == dist::ReductionKind::Sum && isRounded(reduction.type);
  }

  Writer &out;
  Reduction &reduction;
  bool isCuda;
  SmallVector<Loop> all, parallel, reduced; ///< `all` in the order of the space
};

} // namespace

std::string ReductionEmitter::getTerm(ArrayRef<Loop> loops) {
  std::string term;
  for (const Access &factor : reduction.factors)
    term += (term.empty() ? "" : " * ") + getLoaded(factor, loops);
  return term;
}

std::string ReductionEmitter::combine(const std::string &sum, const std::string &term) {
  if (reduction.kind == dist::ReductionKind::Sum)
    return sum + " += " + term + ";";
  return sum + " = " + (reduction.kind == dist::ReductionKind::Max ? "tm::max(" : "tm::min(") +
         sum + ", " + term + ");";
}

std::string ReductionEmitter::getNeutral() {
  if (reduction.kind == dist::ReductionKind::Sum)
    return reduction.type + "(0)";
  return (reduction.kind == dist::ReductionKind::Max ? "tm::lowest<" : "tm::highest<") +
         reduction.type + ">()";
}

SizeExpr ReductionEmitter::getCount() {
  SizeExpr count;
  for (const Loop &loop : all)
    count = count * loop.size;
  return count;
}

/// Contiguous sums of a tensor or of the product of two: calls of one function, compiled once for
/// all tensors.
bool ReductionEmitter::emitPlainSum() {
  auto isPlain = [&](const Access &factor) { return getOffset(factor, all) == all[0].variable; };
  if (reduction.kind != dist::ReductionKind::Sum || !llvm::all_of(reduction.factors, isPlain))
    return false;
  std::string operands;
  for (const Access &factor : reduction.factors)
    operands += factor.pointer + ", ";
  out.line("tm::" + Twine(reduction.factors.size() == 1 ? "sum" : "dot") + "(ctx, " +
           reduction.result.pointer + ", " + operands + all[0].size.str() + ");");
  return true;
}

/// Reduces to one number, in chunks whose sizes depend only on the shape.
void ReductionEmitter::emitFullReduction() {
  if (emitPlainSum())
    return;
  StringRef kind = reduction.kind == dist::ReductionKind::Sum   ? "sum"
                   : reduction.kind == dist::ReductionKind::Max ? "maximum"
                                                                : "minimum";
  out.line("tm::" + kind + "(ctx, " + reduction.result.pointer + ", " + all[0].size.str() +
           ", [=] TM_LAMBDA(int64_t " + all[0].variable + ") { return " + getTerm(all) + "; });");
}

/// The innermost dimension is parallel: reduces blocks of it side by side.
void ReductionEmitter::emitColumns() {
  Loop last = parallel.pop_back_val();
  emitParallel(out, parallel.size() + 1, getCount());
  openLoops(out, parallel);
  std::string start = last.variable + "0", size = last.size.str();
  out.open("for (int64_t " + start + " = 0; " + start + " < " + size + "; " + start +
           " += " + kSumColumns + ")");
  out.line("const int64_t width = tm::min(" + size + " - " + start + ", int64_t(" + kSumColumns +
           "));");
  SmallVector<Loop> at = parallel;
  llvm::append_range(at, reduced);
  at.push_back(last);
  at.back().variable = "(" + start + " + " + last.variable + ")";
  std::string loop = "for (int64_t " + last.variable + " = 0; " + last.variable + " < width; ++" +
                     last.variable + ")";
  std::string element = "total[" + last.variable + "]";
  if (isRoundedSum())
    emitColumnSums(last.variable, at);
  else
    emitExactColumns(loop, element, at);
  // Without the pragma, GCC 12 unrolls a short loop before it vectorises the function's statements,
  // which may end in an internal error (tests/emission/found/unrolled-columns.titan).
  out.line("#pragma omp simd");
  out.line(loop);
  out.line("  " + getElement(reduction.result, at) + getStore() + element + ";");
  out.close();
  closeLoops(out, parallel);
}

void ReductionEmitter::emitColumnSums(const std::string &column, ArrayRef<Loop> at) {
  ArrayRef<Loop> outer = ArrayRef(reduced).drop_back();
  const Loop &rows = reduced.back();
  out.line("tm::ColumnSums<" + reduction.type + "> total(width);");
  openLoops(out, outer);
  out.line("total.add(" + rows.size.str() + ", [&](int64_t " + rows.variable + ", int64_t " +
           column + ") { return " + getTerm(at) + "; });");
  closeLoops(out, outer);
}

/// Exact reductions: maxima, minima, and sums of integers.
void ReductionEmitter::emitExactColumns(const std::string &loop, const std::string &element,
                                        ArrayRef<Loop> at) {
  out.line(reduction.type + " total[" + kSumColumns + "];");
  out.line(loop);
  out.line("  " + element + " = " + getNeutral() + ";");
  openLoops(out, reduced);
  out.line("#pragma omp simd");
  out.line(loop);
  out.line("  " + combine(element, getTerm(at)));
  closeLoops(out, reduced);
}

/// The innermost dimension is reduced: computes one result at a time.
void ReductionEmitter::emitPoints() {
  emitParallel(out, parallel.size(), getCount());
  openScope(out, parallel);
  // There is no reduced loop if only dimensions of size 1 are reduced.
  ArrayRef<Loop> inner = ArrayRef(reduced).take_back(reduced.empty() ? 0 : 1);
  ArrayRef<Loop> outer = ArrayRef(reduced).drop_back(inner.size());
  bool isBlocked = isRoundedSum() && needsBlocks(reduced);
  SumNames sum{"total", isBlocked ? "part" : "total", reduction.type};
  out.line((isBlocked ? "double" : reduction.type) +
           " total = " + (isBlocked ? "0" : getNeutral()) + ";");
  openLoops(out, outer);
  if (isBlocked)
    openBlocks(out, inner[0], sum);
  StringRef sign = reduction.kind == dist::ReductionKind::Sum   ? "+"
                   : reduction.kind == dist::ReductionKind::Max ? "max"
                                                                : "min";
  if (!inner.empty())
    out.line("#pragma omp simd reduction(" + sign + ":" + sum.block + ")");
  if (isBlocked)
    openBlock(out, inner[0]);
  else
    openLoops(out, inner);
  out.line(combine(sum.block, getTerm(all)));
  if (isBlocked)
    closeBlocks(out, inner[0], sum);
  else
    closeLoops(out, inner);
  closeLoops(out, outer);
  out.line(getElement(reduction.result, parallel) + getStore() +
           (isBlocked ? reduction.type + "(total);" : "total;"));
  closeScope(out, parallel);
}

/// On a device: one thread per result, which sums in order.
void ReductionEmitter::emitThreads() {
  openKernel(out, parallel);
  bool isSum = isRoundedSum();
  out.line(isSum ? "tm::Sum<" + reduction.type + "> total;"
                 : reduction.type + " total = " + getNeutral() + ";");
  openLoops(out, reduced);
  out.line(isSum ? "total.add(" + getTerm(all) + ");" : combine("total", getTerm(all)));
  closeLoops(out, reduced);
  out.line(getElement(reduction.result, parallel) + getStore() +
           (isSum ? reduction.type + "(total.get());" : "total;"));
  closeKernel(out);
}

void ReductionEmitter::emit() {
  SmallVector<const Access *> accesses{&reduction.result};
  for (const Access &factor : reduction.factors)
    accesses.push_back(&factor);
  all = makeLoops(reduction.space, accesses);
  nameLoops(all);
  for (const Loop &loop : all)
    (reduction.result.strides.count(loop.getKey()) ? parallel : reduced).push_back(loop);
  if (parallel.empty() && all.size() == 1 && !reduction.accumulates)
    return emitFullReduction();
  if (isCuda)
    return emitThreads();
  bool isColumns = !parallel.empty() && parallel.back().getKey() == all.back().getKey();
  if (isColumns && !reduced.empty())
    return emitColumns();
  emitPoints();
}

void emission::emitReduction(FunctionEmitter &emitter, Reduction reduction) {
  ReductionEmitter(emitter, reduction).emit();
}

LogicalResult emission::emitReduce(FunctionEmitter &emitter, ReduceOp op) {
  Type element = op.getResult().getType().getElementType();
  emitReduction(emitter, {emitter.getSpace(op.getInput()),
                          {emitter.getAccess(op.getInput())},
                          emitter.getAccess(op.getResult()),
                          op.getKind(),
                          getRegisterType(element)});
  return success();
}
