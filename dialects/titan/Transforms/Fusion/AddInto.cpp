//===- AddInto.cpp - The pass --titan-add-into ----------------------------===//

#include "dialects/titan/Transforms/Fusion/Fusion.h"
#include "dialects/titan/Transforms/Fusion/Groups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The operand of a sum, if it is an `Op` whose result only this sum reads, beside a tensor of the
/// same type.
template <typename Op> Op findTerm(AddOp add, unsigned operand) {
  auto term = add->getOperand(operand).getDefiningOp<Op>();
  bool isWanted = term && term->hasOneUse() && !term.getInto() &&
                  term->getBlock() == add->getBlock() &&
                  add->getOperand(1 - operand).getType() == add.getResult().getType() &&
                  term.getResult().getType() == add.getResult().getType();
  return isWanted ? term : Op();
}

/// True where a repeat carries `from` into this iteration, for the sum alone, and the sum into the
/// next: so that the sum lies where `from` does.
bool isAccumulator(Value from, AddOp sum) {
  auto repeat = dyn_cast<RepeatOp>(sum->getParentOp());
  if (!repeat || !from.hasOneUse() || !sum->hasOneUse())
    return false;
  return llvm::any_of(repeat.getVariants(), [&](RepeatVariant variant) {
    return &variant.getBlock() == sum->getBlock() &&
           llvm::any_of(llvm::zip_equal(variant.getIterArgs(), variant.getYieldedIterArgs()),
                        [&](auto pair) {
                          auto [carried, yielded] = pair;
                          return carried == from && yielded == sum.getResult();
                        });
  });
}

/// Puts the term that joins the other operand in place of the sum.
template <typename Op> void replaceSum(AddOp add, Op term, unsigned operand) {
  OpBuilder builder(add);
  auto joined = cast<Op>(builder.clone(*term));
  joined.getIntoMutable().assign(add->getOperand(1 - operand));
  add.replaceAllUsesWith(joined.getResult());
  add.erase();
  term.erase();
}

void addInto(AddOp add) {
  for (unsigned operand : {1u, 0u}) {
    // Single updates of elements are left to the fusion of elementwise operations.
    if (auto scatter = findTerm<ScatterOp>(add, operand); scatter && !scatter.isOneHot())
      return replaceSum(add, scatter, operand);
    // A product beside a tensor that is kept would have to begin with a copy of it.
    if (auto contract = findTerm<ContractOp>(add, operand);
        contract && !contract.getResult().getType().getElementType().isBF16() &&
        isAccumulator(add->getOperand(1 - operand), add))
      return replaceSum(add, contract, operand);
  }
}

/// Sums of many terms that are added to a tensor join it one after the other, instead of being a
/// tensor of their own first. Of updates to a table: one that is used in two ways, looked up and
/// multiplied, has two gradients, of which one is almost everywhere 0. Of products: where a repeat
/// adds them up, as over parts of a batch. Input:
///   %a = titan.contract %x, %d : [vocab, embed]
///   %b = titan.scatter %u along "vocab" at %tokens : [vocab, embed]
///   %c = titan.add %a, %b
/// Output:
///   %a = titan.contract %x, %d : [vocab, embed]
///   %c = titan.scatter %u along "vocab" at %tokens into %a
/// Terms join the tensor one by one, not their sum: results may differ in the last digits.
struct AddIntoPass : PassWrapper<AddIntoPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AddIntoPass)

  StringRef getArgument() const final { return "titan-add-into"; }
  StringRef getDescription() const final {
    return "Add updates and products into the tensor that they join";
  }

  void runOnOperation() final {
    for (Block *block : fusion::getBodies(getOperation()))
      for (AddOp add : llvm::make_early_inc_range(block->getOps<AddOp>()))
        addInto(add);
  }
};

} // namespace

std::unique_ptr<Pass> fusion::createAddIntoPass() {
  return std::make_unique<AddIntoPass>();
}
