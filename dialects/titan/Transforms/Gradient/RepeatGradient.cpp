// Builds the gradient of a repeat, which is a repeat.
//
// The backward repeat iterates in the opposite direction with the same iteration table. Each
// variant of the forward has one backward body:
//
// - iteration arguments: the cotangents of the forward's iteration arguments, and the sums of the
//   captures' cotangents;
// - scanned inputs: the cotangents of the forward's stacked outputs, the forward's scanned inputs,
//   and the residuals;
// - stacked outputs: the cotangents of the forward's scanned inputs.
//
// docs/rationale/repeat.md explains why a repeat is a scan.

#include "dialects/titan/Differentiation/ParameterOrigin.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/LoopDistribution.h"
#include "dialects/titan/Transforms/Gradient/Residuals.h"
#include "dialects/titan/Transforms/Gradient/ReverseSweep.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace titan::ir;

namespace {

/// A backward body, without a parent operation until the operands are known.
struct BackwardBody {
  BackwardBody(RepeatVariant forward, OpBuilder &builder, Activity &activity)
      : forward(forward), sweep(builder, activity) {
    region.push_back(block = new Block);
  }
  RepeatVariant forward;
  Region region;
  Block *block;
  ReverseSweep sweep;
  /// The block arguments for the forward's scanned inputs.
  SmallVector<BlockArgument> rescanned;
};

/// Builds the backward repeat of `forward`, whose results have the cotangents `cotangents`.
class RepeatGradient {
public:
  RepeatGradient(RepeatOp forward, ArrayRef<Value> cotangents, ReverseSweep &outer)
      : forward(forward), cotangents(cotangents), outer(outer), builder(outer.getBuilder()) {}

  LogicalResult run();

private:
  void chooseIterArgs();
  void addArguments(BackwardBody &body);
  LogicalResult sweepBody(BackwardBody &body);
  void findScannedWithCotangent();
  void yieldCotangents(BackwardBody &body);
  void collectResiduals(BackwardBody &body);
  void dropUnusedScannedInputs();
  void extendForward();
  void buildBackward();
  Value constrain(Value value, Value init);
  Value buildZeros(Value value, NamedTensorType type);

  RepeatOp forward;
  ArrayRef<Value> cotangents;
  ReverseSweep &outer;
  OpBuilder &builder;
  SmallVector<std::unique_ptr<BackwardBody>> bodies;
  /// The numbers of the forward's iteration arguments that get a cotangent.
  SmallVector<unsigned> iterArgs;
  /// Captures that get a cotangent, and the numbers of such scanned inputs.
  llvm::SetVector<Value> captured;
  SmallVector<unsigned> scannedWithCotangent;
  /// Operands of the backward repeat in the order of the block arguments, and the users of
  /// `slices`.
  SmallVector<Value> inits, slices;
  VariantLists scannedUsers;
  /// The residuals, each with the number of the variant that yields it.
  SmallVector<std::pair<Value, unsigned>> residuals;
};

} // namespace

/// Zeros for the cotangent of `value`.
Value RepeatGradient::buildZeros(Value value, NamedTensorType type) {
  Location loc = getGradientLoc(forward.getLoc(), value);
  return TensorBuilder(builder, loc).zeros(type);
}

/// Axis rules assign the sharding of iteration arguments, so their cotangents get a sharding
/// constraint, too, under the name of the forward's initial value.
Value RepeatGradient::constrain(Value value, Value init) {
  StringRef name = getName(init.getDefiningOp<ShardingConstraintOp>());
  auto constraint = value.getDefiningOp<ShardingConstraintOp>();
  if (constraint && getName(constraint) == name)
    return value;
  return createConstraint(builder, value.getLoc(), value.getType(), value, name);
}

LogicalResult RepeatGradient::run() {
  chooseIterArgs();
  for (const RepeatVariant &variant : forward.getVariants()) {
    bodies.push_back(std::make_unique<BackwardBody>(variant, builder, outer.getActivity()));
    addArguments(*bodies.back());
    if (failed(sweepBody(*bodies.back())))
      return failure();
  }
  findScannedWithCotangent();
  for (const auto &body : bodies)
    yieldCotangents(*body);
  for (Value value : captured)
    inits.push_back(buildZeros(value, getCotangentType(value)));
  for (const auto &body : bodies)
    collectResiduals(*body);
  dropUnusedScannedInputs();
  extendForward();
  buildBackward();
  return success();
}

/// Chooses the iteration arguments of the backward, and scans the cotangents of stacked outputs.
/// All bodies share these operands.
void RepeatGradient::chooseIterArgs() {
  SmallVector<bool> reaching = findReachingIterArgs(forward, cotangents);
  for (auto [i, init] : llvm::enumerate(forward.getInits())) {
    bool isActive = llvm::any_of(forward.getVariants(), [&, i = i](const RepeatVariant &body) {
      return outer.getActivity().isActive(body.getIterArgs()[i]);
    });
    if (!reaching[i] || !isActive)
      continue;
    iterArgs.push_back(i);
    auto type = cast<NamedTensorType>(init.getType());
    inits.push_back(constrain(cotangents[i] ? cotangents[i] : buildZeros(init, type), init));
  }
  for (auto [i, cotangent] : llvm::enumerate(cotangents.drop_front(forward.getNumIterArgs())))
    if (cotangent) {
      slices.push_back(cotangent);
      scannedUsers.push_back(forward.getStackedUsers(i));
    }
}

/// Adds arguments for the index, the iteration arguments and the cotangents of stacked outputs.
void RepeatGradient::addArguments(BackwardBody &body) {
  BlockArgument index = body.forward.getIndex();
  body.block->addArgument(index.getType(), index.getLoc());
  for (unsigned i : iterArgs) {
    BlockArgument arg = body.forward.getIterArgs()[i];
    body.block->addArgument(arg.getType(), getGradientLoc(arg.getLoc(), arg));
  }
  for (auto [value, stack, operand] : body.forward.getStackedOutputs())
    if (Value cotangent = cotangents[stack.getResultNumber()])
      body.block->addArgument(value.getType(), cotangent.getLoc());
}

LogicalResult RepeatGradient::sweepBody(BackwardBody &body) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(body.block);
  unsigned next = 1;
  for (unsigned i : iterArgs)
    body.sweep.accumulate(body.forward.getYieldedIterArgs()[i], body.block->getArgument(next++));
  for (auto [value, stack, operand] : body.forward.getStackedOutputs())
    if (cotangents[stack.getResultNumber()])
      body.sweep.accumulate(value, body.block->getArgument(next++));
  if (failed(body.sweep.run(body.forward.getBlock())))
    return failure();
  for (Value value : body.sweep.getCaptured(body.forward.getRegion()))
    captured.insert(value);
  return success();
}

/// Finds the scanned inputs that get a cotangent in some variant.
void RepeatGradient::findScannedWithCotangent() {
  SmallVector<bool> reached(forward.getScannedInputs().size());
  for (const auto &body : bodies)
    for (auto [stack, slice, number] : body->forward.getScannedInputs())
      reached[number] = reached[number] || body->sweep.lookup(slice);
  for (unsigned i = 0; i < reached.size(); ++i)
    if (reached[i])
      scannedWithCotangent.push_back(i);
}

/// Yields the iteration arguments, the sums of the captures' cotangents, and the stacked outputs.
void RepeatGradient::yieldCotangents(BackwardBody &body) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(body.block);
  SmallVector<Value> results;
  for (unsigned i : iterArgs) {
    Value cotangent = body.sweep.lookup(body.forward.getIterArgs()[i]);
    Value init = forward.getInits()[i];
    auto type = cast<NamedTensorType>(init.getType());
    results.push_back(constrain(cotangent ? cotangent : buildZeros(init, type), init));
  }
  for (Value value : captured) {
    Location loc = getGradientLoc(forward.getLoc(), value);
    Value sum = body.block->insertArgument(1 + results.size(), getCotangentType(value), loc);
    Value cotangent = body.sweep.lookup(value);
    results.push_back(cotangent ? TensorBuilder(builder, loc).add(sum, cotangent) : sum);
  }
  for (auto [stack, slice, number] : body.forward.getScannedInputs())
    if (llvm::is_contained(scannedWithCotangent, number)) {
      Value cotangent = body.sweep.lookup(slice);
      results.push_back(cotangent ? cotangent : buildZeros(slice, getCotangentType(slice)));
    }
  builder.create<YieldOp>(body.forward.getYield().getLoc(), results);
}

/// Adds the residuals of `body` to its scanned inputs. Each variant has its own residuals.
void RepeatGradient::collectResiduals(BackwardBody &body) {
  eraseDeadOps(body.region);
  unsigned first = body.block->getNumArguments();
  Residuals residualsOfBody(body.forward, *body.block);
  residualsOfBody.materialize();
  auto again = body.block->getArguments().slice(first, body.forward.getScannedArgs().size());
  body.rescanned.assign(again.begin(), again.end());
  for (Value value : residualsOfBody.getStacked())
    residuals.push_back({value, body.forward.getNumber()});
}

/// Removes the block arguments of scanned inputs that no variant uses. If some variant uses one, it
/// stays an argument of all variants that have it.
void RepeatGradient::dropUnusedScannedInputs() {
  SmallVector<bool> used(forward.getScannedInputs().size());
  for (const auto &body : bodies)
    for (auto [arg, slice] : llvm::zip_equal(body->rescanned, body->forward.getScannedInputs()))
      used[slice.number] = used[slice.number] || !arg.use_empty();
  for (const auto &body : bodies)
    for (auto [arg, slice] : llvm::zip_equal(body->rescanned, body->forward.getScannedInputs()))
      if (!used[slice.number])
        body->block->eraseArgument(arg.getArgNumber());
  for (auto [number, stack] : llvm::enumerate(forward.getScannedInputs()))
    if (used[number]) {
      slices.push_back(stack);
      scannedUsers.push_back(forward.getScannedUsers(number));
    }
}

/// Replaces the forward by one that also stacks the residuals.
void RepeatGradient::extendForward() {
  if (residuals.empty())
    return;
  unsigned numOld = forward.getNumResults();
  RepeatOp extended = appendStackedOutputs(forward, residuals, [&](Value old, Value result) {
    outer.replace(old, result);
    std::replace(slices.begin(), slices.end(), old, result);
  });
  forward = extended;
  for (auto [stack, entry] : llvm::zip_equal(extended.getResults().drop_front(numOld), residuals)) {
    slices.push_back(stack);
    scannedUsers.push_back({static_cast<int64_t>(entry.second)});
  }
}

void RepeatGradient::buildBackward() {
  SmallVector<Type> types;
  VariantLists stackedUsers;
  for (Value init : inits)
    types.push_back(init.getType());
  for (unsigned number : scannedWithCotangent) {
    types.push_back(getCotangentType(forward.getScannedInputs()[number]));
    stackedUsers.push_back(forward.getScannedUsers(number));
  }
  Location loc = getGradientLoc(forward.getLoc(), forward.getResult(0));
  auto backward =
      builder.create<RepeatOp>(loc, types, forward.getDim(), !forward.getReverse(),
                               forward.getIterations(), inits, slices, scannedUsers, stackedUsers);
  if (Attribute stage = forward->getAttr(attr::kStage))
    backward->setAttr(attr::kStage, stage);
  for (auto [to, body] : llvm::zip_equal(backward.getBodies(), bodies))
    to.takeBody(body->region);
  unsigned next = 0;
  for (unsigned i : iterArgs)
    outer.accumulate(forward.getInits()[i], backward.getResult(next++));
  for (Value value : captured)
    outer.accumulate(value, backward.getResult(next++));
  for (unsigned i : scannedWithCotangent)
    outer.accumulate(forward.getScannedInputs()[i], backward.getResult(next++));
}

LogicalResult titan::ir::differentiateRepeat(RepeatOp repeat, ArrayRef<Value> cotangents,
                                             ReverseSweep &sweep) {
  return RepeatGradient(repeat, cotangents, sweep).run();
}
