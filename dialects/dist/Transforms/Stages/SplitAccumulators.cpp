// Splits sums over microbatches into one sum per stage.

#include "dialects/dist/Transforms/Stages/SplitAccumulators.h"

#include "dialects/dist/Support/RepeatEdit.h"
#include "dialects/dist/Transforms/Stages/FragmentPlan.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::AddOp;
using ir::RepeatOp;

namespace {
/// `sum`, a yielded value, is `argument + (early + late)`, and `late` is computed at a later
/// position than `early`.
struct Splittable {
  unsigned index;
  AddOp sum, terms;
  Value early, late;
};
} // namespace

static int64_t getPosition(const FragmentPlan &plan, Value value) {
  return value.getDefiningOp() ? plan.getPosition(value.getDefiningOp()) : -1;
}

static std::optional<Splittable> findSplittable(RepeatOp loop, const FragmentPlan &plan) {
  ir::RepeatVariant body = loop.getVariant(0);
  for (auto [index, yielded] : llvm::enumerate(body.getYieldedIterArgs())) {
    auto sum = yielded.getDefiningOp<AddOp>();
    auto terms = sum ? sum->getOperand(1).getDefiningOp<AddOp>() : AddOp();
    if (!terms || !terms->hasOneUse() || sum->getOperand(0) != body.getIterArgs()[index])
      continue;
    Value early = terms->getOperand(0), late = terms->getOperand(1);
    if (getPosition(plan, early) > getPosition(plan, late))
      std::swap(early, late);
    if (early.getType() == late.getType() && early.getType() == sum.getType() &&
        getPosition(plan, early) < getPosition(plan, late))
      return Splittable{static_cast<unsigned>(index), sum, terms, early, late};
  }
  return std::nullopt;
}

/// Appends an iteration argument that sums the early term.
static void split(RepeatOp loop, const Splittable &found) {
  // The operands of the final addition have the order that the terms had before the split.
  bool isFirst = found.terms->getOperand(0) == found.early;
  AddOp sum = found.sum;
  Location loc = sum.getLoc();
  Value early = found.early;
  sum->setOperand(1, found.late);
  found.terms->erase();
  RepeatOp wider = addIterArgs(loop, {loop.getInits()[found.index]});
  ir::RepeatVariant body = wider.getVariant(0);
  unsigned added = wider.getNumIterArgs() - 1;
  Operation *yield = body.getYield();
  OpBuilder inside(yield);
  auto other = cast<AddOp>(inside.clone(*yield->getOperand(found.index).getDefiningOp()));
  other->setOperand(0, body.getIterArgs()[added]);
  other->setOperand(1, early);
  yield->setOperand(added, other);
  OpBuilder after(wider->getContext());
  after.setInsertionPointAfter(wider);
  Value late = wider.getResult(found.index), first = wider.getResult(added), second = late;
  if (!isFirst)
    std::swap(first, second);
  auto total = after.create<AddOp>(loc, late.getType(), first, second);
  late.replaceAllUsesExcept(total, total);
}

void dist::splitAccumulators(func::FuncOp program) {
  while (RepeatOp loop = findMicrobatchLoop(program)) {
    FragmentPlan plan(program, loop);
    std::optional<Splittable> found = findSplittable(loop, plan);
    if (!found)
      return;
    split(loop, *found);
  }
}
