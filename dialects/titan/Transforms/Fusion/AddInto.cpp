//===- AddInto.cpp - The pass --titan-add-into ----------------------------===//

#include "dialects/titan/Transforms/Fusion/Fusion.h"
#include "dialects/titan/Transforms/Fusion/Groups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The operand of a sum if it is an `Op` without other uses, and the other operand has its type.
template <typename Op> Op findTerm(AddOp add, unsigned operand) {
  auto term = add->getOperand(operand).getDefiningOp<Op>();
  bool isWanted = term && term->hasOneUse() && !term.getInto() &&
                  term->getBlock() == add->getBlock() &&
                  add->getOperand(1 - operand).getType() == add.getResult().getType() &&
                  term.getResult().getType() == add.getResult().getType();
  return isWanted ? term : Op();
}

/// True if a repeat passes `from` to this iteration for `sum` alone, and `sum` to the next
/// iteration: then both have one allocation.
bool isAccumulator(Value from, AddOp sum) {
  auto repeat = dyn_cast<RepeatOp>(sum->getParentOp());
  if (!repeat || !from.hasOneUse() || !sum->hasOneUse())
    return false;
  return llvm::any_of(repeat.getVariants(), [&](RepeatVariant variant) {
    return &variant.getBlock() == sum->getBlock() &&
           llvm::any_of(llvm::zip_equal(variant.getIterArgs(), variant.getYieldedIterArgs()),
                        [&](auto pair) {
                          auto [iterArg, yielded] = pair;
                          return iterArg == from && yielded == sum.getResult();
                        });
  });
}

/// Replaces the sum by its term, which accumulates into the other operand.
template <typename Op> void replaceSum(AddOp add, Op term, unsigned operand) {
  OpBuilder builder(add);
  auto accumulating = cast<Op>(builder.clone(*term));
  accumulating.getIntoMutable().assign(add->getOperand(1 - operand));
  add.replaceAllUsesWith(accumulating.getResult());
  add.erase();
  term.erase();
}

void addInto(AddOp add) {
  for (unsigned operand : {1u, 0u}) {
    // The fusion of elementwise operations handles single updates.
    if (auto scatter = findTerm<ScatterOp>(add, operand); scatter && !scatter.isOneHot())
      return replaceSum(add, scatter, operand);
    // If the other operand has further uses, the product would have to start with a copy of it.
    if (auto contract = findTerm<ContractOp>(add, operand);
        contract && !contract.getResult().getType().getElementType().isBF16() &&
        isAccumulator(add->getOperand(1 - operand), add))
      return replaceSum(add, contract, operand);
  }
}

/// Lets a term accumulate into the other operand of a sum, so that the term needs no tensor.
/// Terms are scatters: a table that is both gathered from and multiplied has two gradients, one of
/// them almost everywhere 0. Terms are also contractions that a repeat accumulates, for example
/// over microbatches. Input:
///   %a = titan.contract %x, %d : [vocab, embed]
///   %b = titan.scatter %u along "vocab" at %tokens : [vocab, embed]
///   %c = titan.add %a, %b
/// Output:
///   %a = titan.contract %x, %d : [vocab, embed]
///   %c = titan.scatter %u along "vocab" at %tokens into %a
/// The order of additions changes: results may differ in the last digits.
struct AddIntoPass : PassWrapper<AddIntoPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AddIntoPass)

  StringRef getArgument() const final { return "titan-add-into"; }
  StringRef getDescription() const final {
    return "Accumulate scatters and contractions into the tensor that they are added to";
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
