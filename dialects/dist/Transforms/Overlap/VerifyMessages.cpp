// The pass --dist-verify-messages.

#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>

namespace titan::dist {
#define GEN_PASS_DEF_DISTVERIFYMESSAGES
#include "dialects/dist/Transforms/Overlap/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

namespace {

ArrayAttr getAxes(Operation *op) {
  return op->getAttrOfType<ArrayAttr>("axes");
}

int64_t getOffset(Operation *end) {
  return end->getAttrOfType<IntegerAttr>("offset").getInt();
}

/// Whether the partner of this end is the later rank of the link.
bool facesLater(Operation *end) {
  return isa<SendOp>(end) == (getOffset(end) > 0);
}

bool haveSameLink(Operation *a, Operation *b) {
  return getAxes(a) == getAxes(b) && std::abs(getOffset(a)) == std::abs(getOffset(b));
}

/// Whether the ends, which face each other, belong to one message.
bool areMatching(Operation *a, Operation *b) {
  return isa<SendOp>(a) != isa<SendOp>(b) && getOffset(a) == getOffset(b) &&
         a->getOperand(0).getType() == b->getOperand(0).getType();
}

/// Whether `op` communicates over an axis of the message `open`.
bool usesSameAxis(Operation *op, Operation *open) {
  return (isCollective(op) || isMessage(op)) && llvm::any_of(getAxes(op), [&](Attribute axis) {
           return llvm::is_contained(getAxes(open), axis);
         });
}

/// Checks one block. Open messages are those of one link, with ends that face the same direction.
class MessageChecker {
public:
  LogicalResult check(Block &block) {
    for (Operation &op : block)
      if (failed(visit(&op)))
        return failure();
    if (open.empty())
      return success();
    return open.front()->emitOpError("has no matching ")
           << (isa<SendOp>(open.front()) ? "receive" : "send") << " in its block";
  }

private:
  LogicalResult visit(Operation *op) {
    if (isMessage(op))
      return visitEnd(op);
    if (!open.empty() && usesSameAxis(op, open.front()))
      return complain(op, "communicates over an axis of a message that is open");
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(visitInner(block)))
          return failure();
    return success();
  }

  LogicalResult visitInner(Block &block) {
    Operation *repeat = block.getParentOp();
    auto conflicts = [&](Operation *inner) {
      return inner != repeat && (isMessage(inner) || usesSameAxis(inner, open.front()));
    };
    if (!open.empty() && repeat
                             ->walk([&](Operation *inner) {
                               return conflicts(inner) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
                             })
                             .wasInterrupted())
      return complain(repeat, "communicates inside while a message is open");
    return MessageChecker().check(block);
  }

  LogicalResult visitEnd(Operation *end) {
    if (!open.empty() && !haveSameLink(end, open.front()))
      return complain(end, "belongs to another link than a message that is open");
    if (open.empty() || facesLater(end) == facesLater(open.front())) {
      open.push_back(end);
      return success();
    }
    if (!areMatching(end, open.front()))
      return complain(end, "does not match the message that its partner reaches first");
    open.pop_front();
    return success();
  }

  LogicalResult complain(Operation *op, const Twine &what) {
    InFlightDiagnostic error = op->emitOpError(what);
    error.attachNote(open.front()->getLoc()) << "opened here";
    return error;
  }

  std::deque<Operation *> open; ///< ends without their matching ends yet, in program order
};

struct VerifyMessages : titan::dist::impl::DistVerifyMessagesBase<VerifyMessages> {
  void runOnOperation() override {
    if (!getOperation().isExternal() &&
        failed(MessageChecker().check(getOperation().getBody().front())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
