// Plans contractions as matrix products.

#include "compiler/emission/Gemm.h"

#include "llvm/ADT/STLExtras.h"

using namespace titan::emission;

namespace {

struct Classes {
  llvm::SmallVector<Loop> batch, m, n, k;
};

std::optional<SizeExpr> getStride(const Access &access, const Loop &loop) {
  auto it = access.strides.find(loop.getKey());
  return it == access.strides.end() ? std::nullopt : std::optional<SizeExpr>(it->second);
}

/// Merges dimensions of one class in the order of the result, or of the left operand for k.
Classes classify(const GemmOperand &a, const GemmOperand &b, const GemmOperand &c) {
  llvm::SmallVector<IndexDim> batch, m, n, k;
  for (const IndexDim &dim : c.dims) {
    bool inA = a.access.strides.count(dim.key), inB = b.access.strides.count(dim.key);
    (inA && inB ? batch : inA ? m : n).push_back(dim);
  }
  for (const IndexDim &dim : a.dims)
    if (!c.access.strides.count(dim.key))
      k.push_back(dim);
  const Access *all[] = {&a.access, &b.access, &c.access};
  return {makeLoops(batch, all), makeLoops(m, all), makeLoops(n, all), makeLoops(k, all)};
}

/// A matrix needs unit stride along `row` or `column`. Absent loops (size 1) always fit. The
/// leading dimension is the other stride, or any legal number if that dimension has size 1.
bool fits(const Access &access, const Loop *row, const Loop *column, bool &transposed,
          SizeExpr &leading) {
  if (!column || getStride(access, *column)->isOne()) {
    transposed = false;
    leading = row ? *getStride(access, *row) : column ? column->size : SizeExpr();
    // A column vector with strides between its elements has them as leading dimension.
    return true;
  }
  if (!row || getStride(access, *row)->isOne()) {
    transposed = true;
    leading = *getStride(access, *column);
    return true;
  }
  return false;
}

/// Tries one choice of matrix dimensions; null pointers mean size 1.
bool tryChoice(const GemmOperand &a, const GemmOperand &b, const GemmOperand &c, const Loop *m,
               const Loop *n, const Loop *k, GemmPlan &plan) {
  bool transposeC = false;
  if (!fits(a.access, m, k, plan.transposeA, plan.lda) ||
      !fits(b.access, k, n, plan.transposeB, plan.ldb) ||
      !fits(c.access, m, n, transposeC, plan.ldc))
    return false;
  if (transposeC)
    return false;
  plan.m = m ? m->size : SizeExpr();
  plan.n = n ? n->size : SizeExpr();
  plan.k = k ? k->size : SizeExpr();
  plan.isGemm = true;
  return true;
}

/// The candidates of one class: its loops, innermost first.
llvm::SmallVector<const Loop *> getCandidates(llvm::ArrayRef<Loop> loops) {
  llvm::SmallVector<const Loop *> candidates;
  for (const Loop &loop : llvm::reverse(loops))
    candidates.push_back(&loop);
  if (candidates.empty())
    candidates.push_back(nullptr);
  return candidates;
}

void addRemaining(llvm::ArrayRef<Loop> loops, const Loop *taken, GemmPlan &plan) {
  for (const Loop &loop : loops)
    if (&loop != taken)
      plan.loops.push_back(loop);
}

/// The innermost batch loop becomes the batch of the product.
void addBatch(llvm::ArrayRef<Loop> loops, const GemmOperand &a, const GemmOperand &b,
              const GemmOperand &c, GemmPlan &plan) {
  if (loops.empty())
    return;
  addRemaining(loops, &loops.back(), plan);
  plan.batch = loops.back();
  plan.strideA = *getStride(a.access, loops.back());
  plan.strideB = *getStride(b.access, loops.back());
  plan.strideC = *getStride(c.access, loops.back());
}

bool tryOrder(const GemmOperand &a, const GemmOperand &b, const GemmOperand &c, GemmPlan &plan) {
  Classes classes = classify(a, b, c);
  for (const Loop *m : getCandidates(classes.m))
    for (const Loop *n : getCandidates(classes.n))
      for (const Loop *k : getCandidates(classes.k)) {
        if (!tryChoice(a, b, c, m, n, k, plan))
          continue;
        addBatch(classes.batch, a, b, c, plan);
        addRemaining(classes.m, m, plan);
        addRemaining(classes.n, n, plan);
        size_t before = plan.loops.size();
        addRemaining(classes.k, k, plan);
        plan.accumulates = plan.loops.size() > before;
        return true;
      }
  return false;
}

} // namespace

GemmPlan titan::emission::planGemm(const GemmOperand &lhs, const GemmOperand &rhs,
                                   const GemmOperand &result) {
  GemmPlan plan;
  if (tryOrder(lhs, rhs, result, plan))
    return plan;
  GemmPlan swapped;
  swapped.swapped = tryOrder(rhs, lhs, result, swapped);
  return swapped;
}
