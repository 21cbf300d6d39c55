//===- CopyExchanged.cpp - The pass --titan-copy-exchanged -----------------===//

#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// `update p = q` beside `update q = ...`: returned from where q lies, it would be what q became.
static void copyExchanged(Operation *terminator, OpOperand &handedOn) {
  OpBuilder builder(terminator);
  Value value = handedOn.get();
  handedOn.set(
      builder.create<CastOp>(value.getLoc(), value.getType(), value, /*roundsTerms=*/false));
}

/// The terminator's operand i takes the place of `kept[i]`, where that is not null. Operands that
/// are such values are copied, if something else takes their places. Further operands stay.
static void copyExchanged(Operation *terminator, ArrayRef<Value> kept) {
  auto takenBy = [&](Value place) {
    const auto *it = llvm::find(kept, place);
    return it == kept.end() ? Value() : ir::getRoot(terminator->getOperand(it - kept.begin()));
  };
  for (OpOperand &operand : terminator->getOpOperands().take_front(kept.size())) {
    Value root = ir::getRoot(operand.get());
    Value next = isa<BlockArgument>(root) ? takenBy(root) : Value();
    if (next && next != root)
      copyExchanged(terminator, operand);
  }
}

static void copyInFunction(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Value> kept(terminator->getNumOperands());
  for (auto [i, value] : llvm::enumerate(kept))
    if (auto updated = function.getResultAttrOfType<IntegerAttr>(i, attr::kUpdates);
        updated && updated.getValue().ult(function.getNumArguments()))
      value = function.getArgument(updated.getInt());
  copyExchanged(terminator, kept);
}

static void copyInRepeat(RepeatOp repeat) {
  for (const RepeatVariant &body : repeat.getVariants()) {
    SmallVector<Value> kept(body.getCarriedArgs());
    copyExchanged(body.getYield(), kept); // what is stacked goes first
  }
}

namespace {

/// Copies what is handed on in the place of something that is replaced itself. A function's results
/// and what a repeat carries are brought to their places one after the other, so nothing that is
/// still to be read may lie where another goes. Input:
///   func.func @train(%p: T, %q: T) -> (T {titan.updates = 0}, T {titan.updates = 1}) {
///     return %q, %p
/// Output:
///     %0 = titan.cast %q : T -> T
///     %1 = titan.cast %p : T -> T
///     return %0, %1
struct CopyExchangedPass : PassWrapper<CopyExchangedPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CopyExchangedPass)

  StringRef getArgument() const final { return "titan-copy-exchanged"; }
  StringRef getDescription() const final {
    return "Copy what takes the place of something that is replaced itself";
  }

  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(attr::kProgram))
        continue;
      copyInFunction(function);
      function.walk(copyInRepeat);
    }
  }
};

} // namespace

std::unique_ptr<Pass> memory::createCopyExchangedPass() {
  return std::make_unique<CopyExchangedPass>();
}
