// The pass --titan-add-into: lets scatters and contractions accumulate into the tensor that they
// are added to.

#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/RewriteEach.h"
#include "dialects/titan/Transforms/Fusion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::fusion {
#define GEN_PASS_DEF_TITANADDINTO
#include "dialects/titan/Transforms/Fusion/Passes.h.inc"
} // namespace titan::fusion

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

/// True if `sum` is the next value of the iteration argument `previous`.
bool isIterArgOf(Value previous, AddOp sum, RepeatVariant variant) {
  return llvm::any_of(llvm::zip_equal(variant.getIterArgs(), variant.getYieldedIterArgs()),
                      [&](auto pair) {
                        auto [iterArg, yielded] = pair;
                        return iterArg == previous && yielded == sum.getResult();
                      });
}

/// True if the repeat replaces the stack with the slot `previous` by a stack with the slot `sum`.
bool isSlotOf(Value previous, AddOp sum, RepeatVariant variant) {
  RepeatOp repeat = variant.getRepeat();
  return llvm::any_of(variant.getScannedInputs(), [&](const RepeatVariant::ScannedInput &scanned) {
    return scanned.slot == previous && scanned.input.hasOneUse() &&
           llvm::any_of(variant.getStackedOutputs(), [&](const auto &stacked) {
             return stacked.value == sum.getResult() &&
                    repeat.getScannedUsers(scanned.number) ==
                        repeat.getStackedUsers(stacked.output.getResultNumber() -
                                               repeat.getNumIterArgs());
           });
  });
}

/// True if the function returns `sum` as the next value of its argument `previous`.
bool isUpdateOf(Value previous, AddOp sum) {
  auto function = dyn_cast<mlir::func::FuncOp>(sum->getParentOp());
  auto argument = dyn_cast<BlockArgument>(previous);
  if (!function || !argument || !isa<mlir::func::ReturnOp>(*sum->getUsers().begin()))
    return false;
  auto updated = function.getResultAttrOfType<IntegerAttr>(
      sum->getUses().begin()->getOperandNumber(), attr::kUpdates);
  return updated && updated.getInt() == argument.getArgNumber();
}

/// True if only `sum` reads `previous`, and `sum` is its next value: of an iteration argument, a
/// slot of a stack, or an argument of the function. Both then have one allocation.
bool isAccumulator(Value previous, AddOp sum) {
  if (!previous.hasOneUse() || !sum->hasOneUse())
    return false;
  if (std::optional<RepeatVariant> variant = findVariant(sum->getBlock()))
    return isIterArgOf(previous, sum, *variant) || isSlotOf(previous, sum, *variant);
  return isUpdateOf(previous, sum);
}

/// Replaces a sum by one of its terms, which accumulates into the other operand.
class AccumulateTerm : public OpRewritePattern<AddOp> {
public:
  AccumulateTerm(MLIRContext *context, unsigned &numAccumulated)
      : OpRewritePattern(context), numAccumulated(numAccumulated) {}

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    for (unsigned operand : {1u, 0u}) {
      // The fusion of elementwise operations handles single updates.
      if (auto scatter = findTerm<ScatterOp>(add, operand); scatter && !scatter.isOneHot())
        return replace(add, scatter, operand, rewriter);
      // If the other operand has further uses, the product would have to start with a copy of it.
      if (add.getResult().getType().getElementType().isBF16() ||
          !isAccumulator(add->getOperand(1 - operand), add))
        continue;
      if (auto contract = findTerm<ContractOp>(add, operand))
        return replace(add, contract, operand, rewriter);
      if (auto contract = findTerm<GroupedContractOp>(add, operand))
        return replace(add, contract, operand, rewriter);
    }
    return failure();
  }

private:
  template <typename Op>
  LogicalResult replace(AddOp add, Op term, unsigned operand, PatternRewriter &rewriter) const {
    TITAN_DEBUG("titan-add-into", llvm::errs() << "accumulate " << term->getName() << " at "
                                               << term.getLoc() << '\n');
    auto accumulating = cast<Op>(rewriter.clone(*term));
    accumulating.getIntoMutable().assign(add->getOperand(1 - operand));
    rewriter.replaceOp(add, accumulating);
    rewriter.eraseOp(term);
    ++numAccumulated;
    return success();
  }

  unsigned &numAccumulated;
};

struct AddInto : titan::fusion::impl::TitanAddIntoBase<AddInto> {
  void runOnOperation() override {
    unsigned numAccumulated = 0;
    RewritePatternSet patterns(&getContext());
    patterns.add<AccumulateTerm>(&getContext(), numAccumulated);
    rewriteEach<AddOp>(getOperation(), std::move(patterns));
    TITAN_COUNT(accumulatedTerms, numAccumulated);
  }
};

} // namespace
