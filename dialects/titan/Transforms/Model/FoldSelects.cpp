// The pass --titan-fold-selects: removes selects whose conditions the ranges of indices decide.

#include "dialects/titan/Transforms/Model/IndexRange.h"
#include "dialects/titan/Transforms/Model/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANFOLDSELECTS
#include "dialects/titan/Transforms/Model/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

/// The operand that a select always chooses, or null. A choice that the select broadcasts stays.
static Value findChoice(SelectOp select, IndexRanges &ranges) {
  auto condition = select.getCondition().getDefiningOp<CompareOp>();
  std::optional<bool> decided = condition ? ranges.decide(condition) : std::nullopt;
  if (!decided)
    return {};
  Value choice = *decided ? select.getWhenTrue() : select.getWhenFalse();
  return choice.getType() == select.getType() ? choice : Value();
}

/// Erases those of the operations that have no uses, and then operations that only they used.
static void eraseUnused(llvm::SmallSetVector<Operation *, 8> unused) {
  while (!unused.empty()) {
    Operation *op = unused.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *defining = operand.getDefiningOp())
        unused.insert(defining);
    op->erase();
  }
}

namespace {
struct FoldSelects : titan::ir::impl::TitanFoldSelectsBase<FoldSelects> {
  void runOnOperation() override {
    IndexRanges ranges(getVocabulary(getOperation()->getParentOfType<ModuleOp>()));
    llvm::SmallSetVector<Operation *, 8> folded;
    getOperation().walk([&](SelectOp select) {
      if (Value choice = findChoice(select, ranges)) {
        select.replaceAllUsesWith(choice);
        folded.insert(select);
      }
    });
    eraseUnused(std::move(folded));
  }
};
} // namespace
