//===- RepeatGradient.cpp - The gradient of a repeat is a repeat ----------===//
//
// The backward walks the layers in the other direction. It carries the cotangents of the forward's
// carried values, and sums of the cotangents of captured values; it slices the cotangents of the
// forward's stacks, the tensors that the forward sliced, and the stacked residuals; it stacks the
// cotangents of the forward's slices. docs/rationale/repeat.md says why a repeat is a scan.
//
//===----------------------------------------------------------------------===//

#include "dialects/titan/Differentiation/GradientBuilder.h"
#include "dialects/titan/Differentiation/ParameterOrigin.h"
#include "dialects/titan/Transforms/Gradient/Residuals.h"
#include "dialects/titan/Transforms/Gradient/ReverseSweep.h"

using namespace mlir;
using namespace titan::ir;

namespace {

class RepeatGradient {
public:
  RepeatGradient(RepeatOp forward, ArrayRef<Value> cotangents, ReverseSweep &outer)
      : forward(forward), cotangents(cotangents), outer(outer), builder(outer.getBuilder()) {
    region.push_back(body = new Block);
  }

  LogicalResult run();

private:
  void addArguments();
  LogicalResult sweepBody();
  void yieldCotangents(ReverseSweep &sweep);
  void extendForward(ArrayRef<Value> stacked);
  void buildBackward();
  Value anchored(Value value);
  Value zeros(Value value, NamedTensorType type);

  RepeatOp forward;
  ArrayRef<Value> cotangents;
  ReverseSweep &outer;
  OpBuilder &builder;
  /// The backward body, outside any operation until its operands are known.
  Region region;
  Block *body;
  /// Indices of the carried values that get a cotangent.
  SmallVector<unsigned> carried;
  /// Values from outside that get a cotangent, and indices of such slices.
  SmallVector<Value> captured;
  SmallVector<unsigned> stackedSlices;
  /// Operands of the backward, in the order of the body's arguments.
  SmallVector<Value> inits, slices;
};

} // namespace

/// Zeros for the cotangent of `value`.
Value RepeatGradient::zeros(Value value, NamedTensorType type) {
  Location loc = getGradientLoc(forward.getLoc(), value);
  return GradientBuilder(builder, loc).zeros(type);
}

/// What a repeat carries is bound by the map, so it is marked, like the forward's.
Value RepeatGradient::anchored(Value value) {
  if (value.getDefiningOp<AnchorOp>())
    return value;
  return builder.create<AnchorOp>(value.getLoc(), value.getType(), value);
}

LogicalResult RepeatGradient::run() {
  addArguments();
  if (failed(sweepBody()))
    return failure();
  for (Value value : captured)
    inits.push_back(zeros(value, getCotangentType(value)));
  eraseDeadOps(region);
  Residuals residuals(forward, *body);
  if (failed(residuals.materialize()))
    return failure();
  llvm::append_range(slices, residuals.getSlicedOperands());
  unsigned numOld = forward.getNumResults();
  extendForward(residuals.getStacked());
  llvm::append_range(slices, forward.getResults().drop_front(numOld));
  buildBackward();
  return success();
}

/// The index, carried cotangents and slices of the stacks' cotangents; and the operands for them.
void RepeatGradient::addArguments() {
  body->addArgument(forward.getIndex().getType(), forward.getIndex().getLoc());
  SmallVector<bool> reaching = findReachingCarries(forward, cotangents);
  for (auto [i, arg] : llvm::enumerate(forward.getCarriedArgs())) {
    if (!reaching[i] || !outer.getActivity().isActive(arg))
      continue;
    carried.push_back(i);
    body->addArgument(arg.getType(), getGradientLoc(arg.getLoc(), arg));
    Value cotangent = cotangents[i];
    if (!cotangent)
      cotangent = zeros(forward.getInits()[i], cast<NamedTensorType>(arg.getType()));
    inits.push_back(anchored(cotangent));
  }
  for (Value cotangent : cotangents.drop_front(forward.getNumCarried()))
    if (cotangent) {
      auto type = cast<NamedTensorType>(cotangent.getType());
      body->addArgument(RepeatOp::getSliceType(type), cotangent.getLoc());
      slices.push_back(cotangent);
    }
}

LogicalResult RepeatGradient::sweepBody() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(body);
  ReverseSweep sweep(builder, outer.getActivity());
  OperandRange yielded = forward.getYield().getValues();
  unsigned next = 1;
  for (unsigned i : carried)
    sweep.accumulate(yielded[i], body->getArgument(next++));
  for (unsigned i = forward.getNumCarried(); i < yielded.size(); ++i)
    if (cotangents[i])
      sweep.accumulate(yielded[i], body->getArgument(next++));
  if (failed(sweep.run(forward.getBody().front())))
    return failure();
  captured = sweep.getCaptured(forward.getBody());
  yieldCotangents(sweep);
  return success();
}

/// Carried cotangents, the sums over layers of captured values' cotangents, then stacks.
void RepeatGradient::yieldCotangents(ReverseSweep &sweep) {
  SmallVector<Value> results;
  for (unsigned i : carried) {
    BlockArgument arg = forward.getCarriedArgs()[i];
    Value cotangent = sweep.lookup(arg);
    if (!cotangent)
      cotangent = zeros(forward.getInits()[i], cast<NamedTensorType>(arg.getType()));
    results.push_back(anchored(cotangent));
  }
  for (Value value : captured) {
    Location loc = getGradientLoc(forward.getLoc(), value);
    BlockArgument sum = body->insertArgument(1 + results.size(), getCotangentType(value), loc);
    results.push_back(GradientBuilder(builder, loc).add(sum, sweep.lookup(value)));
  }
  for (auto [i, arg] : llvm::enumerate(forward.getSliceArgs()))
    if (Value cotangent = sweep.lookup(arg)) {
      stackedSlices.push_back(i);
      results.push_back(cotangent);
    }
  builder.create<YieldOp>(forward.getYield().getLoc(), results);
}

/// Replaces the forward by one that also stacks `stacked`.
void RepeatGradient::extendForward(ArrayRef<Value> stacked) {
  if (stacked.empty())
    return;
  SmallVector<Type> types(forward.getResultTypes());
  for (Value value : stacked)
    types.push_back(
        RepeatOp::getStackedType(forward.getDim(), cast<NamedTensorType>(value.getType())));
  OpBuilder before(forward);
  auto extended =
      before.create<RepeatOp>(forward.getLoc(), types, forward.getDim(), forward.getReverse(),
                              forward.getInits(), forward.getSlices());
  extended->setDiscardableAttrs(forward->getDiscardableAttrDictionary());
  extended.getBody().takeBody(forward.getBody());
  extended.getYield().getValuesMutable().append(stacked);
  for (auto [old, result] : llvm::zip(forward.getResults(), extended.getResults())) {
    outer.replace(old, result);
    std::replace(slices.begin(), slices.end(), Value(old), Value(result));
    old.replaceAllUsesWith(result);
  }
  forward.erase();
  forward = extended;
}

void RepeatGradient::buildBackward() {
  SmallVector<Type> types;
  OperandRange yielded = cast<YieldOp>(body->getTerminator()).getValues();
  for (auto [i, value] : llvm::enumerate(yielded)) {
    auto type = cast<NamedTensorType>(value.getType());
    types.push_back(i < inits.size() ? type : RepeatOp::getStackedType(forward.getDim(), type));
  }
  Location loc = getGradientLoc(forward.getLoc(), forward.getResult(0));
  auto backward =
      builder.create<RepeatOp>(loc, types, forward.getDim(), !forward.getReverse(), inits, slices);
  backward.getBody().takeBody(region);
  unsigned next = 0;
  for (unsigned i : carried)
    outer.accumulate(forward.getInits()[i], backward.getResult(next++));
  for (Value value : captured)
    outer.accumulate(value, backward.getResult(next++));
  for (unsigned i : stackedSlices)
    outer.accumulate(forward.getSlices()[i], backward.getResult(next++));
}

LogicalResult titan::ir::differentiateRepeat(RepeatOp repeat, ArrayRef<Value> cotangents,
                                             ReverseSweep &sweep) {
  return RepeatGradient(repeat, cotangents, sweep).run();
}
