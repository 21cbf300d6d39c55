// The pass --dist-verify-overlap: each start has exactly one wait and no use before it.

#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace titan::dist {
#define GEN_PASS_DEF_DISTVERIFYOVERLAP
#include "dialects/dist/Transforms/Overlap/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::RepeatOp;

namespace {

/// Walks a function in program order and tracks the channels in flight: the channels with a start
/// that no wait has followed yet.
class InFlightChecker {
public:
  LogicalResult check(func::FuncOp function) {
    if (failed(visit(function.getBody().front())))
      return failure();
    if (flights.empty())
      return success();
    return complain(flights.begin()->second, "is not waited for by the end of the function");
  }

private:
  using Flights = std::map<int64_t, Operation *>; // channel to start

  static LogicalResult complain(Operation *start, const Twine &what) {
    return start->emitOpError("starts on channel ")
           << *getStartChannel(start) << ", which " << what;
  }

  LogicalResult visit(Block &block) {
    for (Operation &op : block)
      if (failed(visit(&op)))
        return failure();
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (auto repeat = dyn_cast<RepeatOp>(op))
      return visitRepeat(repeat);
    if (auto wait = dyn_cast<WaitOp>(op)) {
      if (!flights.erase(wait.getChannel()))
        return wait.emitOpError("waits on channel ")
               << wait.getChannel() << ", where nothing is in flight";
      return success();
    }
    std::optional<int64_t> channel = getStartChannel(op);
    if (!channel)
      return success();
    auto [it, isNew] = flights.try_emplace(*channel, op);
    if (!isNew) {
      InFlightDiagnostic error = op->emitOpError("starts on channel ")
                                 << *channel << ", where something is in flight already";
      error.attachNote(it->second->getLoc()) << "started here";
      return error;
    }
    return checkUses(op->getResults(), *channel);
  }

  /// Checks that every body begins and ends with the same channels in flight, so that the bodies
  /// can follow one another in any order.
  LogicalResult visitRepeat(RepeatOp repeat) {
    const Flights before = flights;
    Flights missed;
    std::map<int64_t, int64_t> lastExecutions; // channel to the iteration of its last start
    for (const ir::RepeatVariant &body : repeat.getVariants()) {
      flights = before;
      if (failed(visit(body.getBlock())))
        return failure();
      for (auto [channel, start] : before)
        if (!flights.count(channel))
          return complain(start, "the body of a repeat waits for and does not start again");
      for (auto [channel, start] : flights)
        if (!before.count(channel))
          return complain(start, "is in flight at the end of a repeat's body but not at its start");
      findLastStarts(body, before, lastExecutions, missed);
    }
    for (auto [channel, start] : missed)
      flights.erase(channel);
    return success();
  }

  /// Records the last start on each channel, from the starts of `body`. If the last iteration that
  /// runs `body` omits a start, adds the start to `missed`.
  void findLastStarts(const ir::RepeatVariant &body, const Flights &before,
                      std::map<int64_t, int64_t> &lastExecutions, Flights &missed) const {
    RepeatOp repeat = body.getRepeat();
    for (auto [channel, start] : flights) {
      if (before.at(channel) == start)
        continue; // in flight since before the repeat
      const int64_t last = findLastIteration(body);
      const int64_t execution = repeat.getReverse() ? repeat.getDim().getSize() - 1 - last : last;
      auto [it, isFirst] = lastExecutions.try_emplace(channel, execution);
      if (!isFirst && it->second > execution)
        continue;
      it->second = execution;
      missed.erase(channel);
      if (isMissed(start, repeat, last))
        missed.emplace(channel, start);
    }
  }

  /// The last iteration that runs `body`.
  static int64_t findLastIteration(const ir::RepeatVariant &body) {
    RepeatOp repeat = body.getRepeat();
    const ir::IterationTable table = repeat.getIterations();
    const int64_t step = repeat.getReverse() ? 1 : -1;
    int64_t iteration = repeat.getReverse() ? 0 : table.getNumIterations() - 1;
    while (table.getVariant(iteration) != static_cast<int64_t>(body.getNumber()))
      iteration += step;
    return iteration;
  }

  /// Whether iteration `last` of `repeat` omits the start, because its layer does not exist.
  static bool isMissed(Operation *start, RepeatOp repeat, int64_t last) {
    LayerOp layer = getLayer(start);
    return layer && start->getParentOp() == repeat && layer.getIndex() && !layer.exists(last);
  }

  /// Checks that only waits on their channel and iteration arguments of repeats use values in
  /// flight.
  LogicalResult checkUses(ValueRange values, int64_t channel) {
    for (Value value : values)
      for (OpOperand &use : value.getUses())
        if (failed(checkUse(use, channel)))
          return failure();
    return success();
  }

  LogicalResult checkUse(OpOperand &use, int64_t channel) {
    Operation *user = use.getOwner();
    unsigned i = use.getOperandNumber();
    if (auto wait = dyn_cast<WaitOp>(user);
        wait && int64_t(wait.getChannel()) == channel && i < wait.getFlights().size())
      return success();
    auto repeat = dyn_cast<RepeatOp>(user);
    if (auto yield = dyn_cast<ir::YieldOp>(user)) {
      auto around = dyn_cast<RepeatOp>(yield->getParentOp());
      if (around && i < around.getNumIterArgs())
        return checkUses(ValueRange(around.getResult(i)), channel);
    }
    if (repeat && i < repeat.getNumIterArgs()) {
      for (const ir::RepeatVariant &body : repeat.getVariants())
        if (failed(checkUses(ValueRange(body.getIterArgs()[i]), channel)))
          return failure();
      return success();
    }
    InFlightDiagnostic error = user->emitOpError("reads a value that is in flight on channel ")
                               << channel;
    error.attachNote(use.get().getLoc()) << "started here";
    return error;
  }

  Flights flights;
};

struct VerifyOverlap : titan::dist::impl::DistVerifyOverlapBase<VerifyOverlap> {
  void runOnOperation() override {
    if (!getOperation().isExternal() && failed(InFlightChecker().check(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
