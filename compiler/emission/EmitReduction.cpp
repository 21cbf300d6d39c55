//===- EmitReduction.cpp - Sums over dimensions ---------------------------===//
//
// Reductions that stand alone, and contractions that are not matrix products: sums of products of
// one or two tensors. Their order never depends on the number of threads, so that replicas stay
// equal bit by bit.
//
//===----------------------------------------------------------------------===//

#include "compiler/emission/FunctionEmitter.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

namespace {

/// Emits one reduction; the loops are named before.
class ReductionEmitter {
public:
  ReductionEmitter(FunctionEmitter &emitter, Reduction &reduction)
      : out(emitter.out()), r(reduction), isCuda(emitter.isCuda()) {}
  void emit();

private:
  bool emitPlainSum();
  void emitWhole();
  void emitColumns();
  void emitPoints();
  void emitThreads();
  std::string getTerm(ArrayRef<Loop> loops);
  std::string combine(const std::string &sum, const std::string &term);
  std::string getNeutral();
  std::string getStore() { return r.joins ? " += " : " = "; }
  Extent getCount();

  Writer &out;
  Reduction &r;
  bool isCuda;
  SmallVector<Loop> all, kept, reduced; ///< `all` in the order of the space
};

} // namespace

std::string ReductionEmitter::getTerm(ArrayRef<Loop> loops) {
  std::string term;
  for (const Access &factor : r.factors)
    term += (term.empty() ? "" : " * ") + getLoaded(factor, loops);
  return term;
}

std::string ReductionEmitter::combine(const std::string &sum, const std::string &term) {
  if (r.kind == dist::ReductionKind::Sum)
    return sum + " += " + term + ";";
  return sum + " = " + (r.kind == dist::ReductionKind::Max ? "tm::max(" : "tm::min(") + sum + ", " +
         term + ");";
}

std::string ReductionEmitter::getNeutral() {
  if (r.kind == dist::ReductionKind::Sum)
    return r.type + "(0)";
  return (r.kind == dist::ReductionKind::Max ? "tm::lowest<" : "tm::highest<") + r.type + ">()";
}

Extent ReductionEmitter::getCount() {
  Extent count;
  for (const Loop &loop : all)
    count = count * loop.size;
  return count;
}

/// Sums of a tensor or of the products of two, as they lie: calls of one function each, which is
/// compiled once for all tensors.
bool ReductionEmitter::emitPlainSum() {
  auto isPlain = [&](const Access &factor) { return getOffset(factor, all) == all[0].variable; };
  if (r.kind != dist::ReductionKind::Sum || !llvm::all_of(r.factors, isPlain))
    return false;
  std::string operands;
  for (const Access &factor : r.factors)
    operands += factor.pointer + ", ";
  out.line("tm::" + Twine(r.factors.size() == 1 ? "sum" : "dot") + "(ctx, " + r.result.pointer +
           ", " + operands + all[0].size.str() + ");");
  return true;
}

/// Everything becomes one number, in chunks whose sizes depend on the shape alone.
void ReductionEmitter::emitWhole() {
  if (emitPlainSum())
    return;
  StringRef kind = r.kind == dist::ReductionKind::Sum   ? "sum"
                   : r.kind == dist::ReductionKind::Max ? "maximum"
                                                        : "minimum";
  out.line("tm::" + kind + "(ctx, " + r.result.pointer + ", " + all[0].size.str() +
           ", [=] TM_LAMBDA(int64_t " + all[0].variable + ") { return " + getTerm(all) + "; });");
}

/// The innermost dimension is kept: blocks of it are summed side by side.
void ReductionEmitter::emitColumns() {
  Loop last = kept.pop_back_val();
  emitParallel(out, kept.size() + 1, getCount());
  openLoops(out, kept);
  std::string start = last.variable + "0", size = last.size.str();
  out.open("for (int64_t " + start + " = 0; " + start + " < " + size + "; " + start + " += 64)");
  out.line("const int64_t width = tm::min(" + size + " - " + start + ", int64_t(64));");
  out.line(r.type + " total[64];");
  std::string loop = "for (int64_t " + last.variable + " = 0; " + last.variable + " < width; ++" +
                     last.variable + ")";
  out.line(loop);
  out.line("  total[" + last.variable + "] = " + getNeutral() + ";");
  openLoops(out, reduced);
  SmallVector<Loop> at = kept;
  llvm::append_range(at, reduced);
  at.push_back(last);
  at.back().variable = "(" + start + " + " + last.variable + ")";
  out.line("#pragma omp simd");
  out.line(loop);
  out.line("  " + combine("total[" + last.variable + "]", getTerm(at)));
  closeLoops(out, reduced);
  // Without the pragma, GCC 12 unrolls a short loop before it vectorises the function's statements,
  // which may end in an internal error (tests/emission/found/unrolled-columns.titan).
  out.line("#pragma omp simd");
  out.line(loop);
  out.line("  " + getElement(r.result, at) + getStore() + "total[" + last.variable + "];");
  out.close();
  closeLoops(out, kept);
}

/// The innermost dimension is summed: one result at a time.
void ReductionEmitter::emitPoints() {
  emitParallel(out, kept.size(), getCount());
  openScope(out, kept);
  out.line(r.type + " total = " + getNeutral() + ";");
  // None is left where only dimensions of size 1 are summed over.
  ArrayRef<Loop> inner = ArrayRef(reduced).take_back(reduced.empty() ? 0 : 1);
  openLoops(out, ArrayRef(reduced).drop_back(inner.size()));
  StringRef sign = r.kind == dist::ReductionKind::Sum   ? "+"
                   : r.kind == dist::ReductionKind::Max ? "max"
                                                        : "min";
  if (!inner.empty())
    out.line("#pragma omp simd reduction(" + sign + ":total)");
  openLoops(out, inner);
  out.line(combine("total", getTerm(all)));
  closeLoops(out, reduced);
  out.line(getElement(r.result, kept) + getStore() + "total;");
  closeScope(out, kept);
}

/// On a device: a thread for each result, which sums in order.
void ReductionEmitter::emitThreads() {
  openKernel(out, kept);
  out.line(r.type + " total = " + getNeutral() + ";");
  openLoops(out, reduced);
  out.line(combine("total", getTerm(all)));
  closeLoops(out, reduced);
  out.line(getElement(r.result, kept) + getStore() + "total;");
  closeKernel(out);
}

void ReductionEmitter::emit() {
  SmallVector<const Access *> accesses{&r.result};
  for (const Access &factor : r.factors)
    accesses.push_back(&factor);
  all = makeLoops(r.space, accesses);
  nameLoops(all);
  for (const Loop &loop : all)
    (r.result.strides.count(loop.getKey()) ? kept : reduced).push_back(loop);
  if (kept.empty() && all.size() == 1 && !r.joins)
    return emitWhole();
  if (isCuda)
    return emitThreads();
  bool isColumns = !kept.empty() && kept.back().getKey() == all.back().getKey();
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
