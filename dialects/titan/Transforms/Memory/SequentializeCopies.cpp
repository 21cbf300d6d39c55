// The pass --titan-sequentialize-copies: copies returned and yielded values that an earlier copy
// would overwrite.

#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::memory {
#define GEN_PASS_DEF_TITANSEQUENTIALIZECOPIES
#include "dialects/titan/Transforms/Memory/Passes.h.inc"
} // namespace titan::memory

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// Lets the terminator return a copy of the operand. If a program updates p to q, and q to
/// something else, the update of p would otherwise read q after it was overwritten.
static void copyOperand(Operation *terminator, OpOperand &operand) {
  OpBuilder builder(terminator);
  Value value = operand.get();
  operand.set(builder.create<CopyOp>(value.getLoc(), value));
}

/// The terminator copies operand i into `targets[i]`, if that is not null. Copies every operand
/// that is a target of another operand. Operands after the last target do not change.
static void sequentializeCopies(Operation *terminator, ArrayRef<Value> targets) {
  auto getReplacement = [&](Value target) {
    const auto *it = llvm::find(targets, target);
    return it == targets.end() ? Value()
                               : ir::getRoot(terminator->getOperand(it - targets.begin()));
  };
  for (OpOperand &operand : terminator->getOpOperands().take_front(targets.size())) {
    Value root = ir::getRoot(operand.get());
    Value next = isa<BlockArgument>(root) ? getReplacement(root) : Value();
    if (next && next != root)
      copyOperand(terminator, operand);
  }
}

static void visitReturn(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Value> targets(terminator->getNumOperands());
  for (auto [i, value] : llvm::enumerate(targets))
    if (auto updated = function.getResultAttrOfType<IntegerAttr>(i, attr::kUpdates);
        updated && updated.getValue().ult(function.getNumArguments()))
      value = function.getArgument(updated.getInt());
  sequentializeCopies(terminator, targets);
}

static void visitYields(RepeatOp repeat) {
  for (const RepeatVariant &body : repeat.getVariants()) {
    SmallVector<Value> targets(body.getIterArgs());
    sequentializeCopies(body.getYield(), targets); // stacked outputs are copied before
  }
}

namespace {

struct SequentializeCopies
    : titan::memory::impl::TitanSequentializeCopiesBase<SequentializeCopies> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(attr::kProgram))
      return;
    visitReturn(function);
    function.walk(visitYields);
  }
};

} // namespace
