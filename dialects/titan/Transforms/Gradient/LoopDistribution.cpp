// Divides a repeat into two over the same iterations.

#include "dialects/titan/Transforms/Gradient/LoopDistribution.h"
#include "dialects/titan/Support/ReadValues.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace titan::ir;

RepeatOp titan::ir::appendStackedOutputs(RepeatOp repeat,
                                         ArrayRef<std::pair<Value, unsigned>> valuesOfVariants,
                                         function_ref<void(Value, Value)> replaces) {
  SmallVector<Type> types(repeat.getResultTypes());
  VariantLists users = repeat.getAllStackedUsers();
  for (auto [value, variant] : valuesOfVariants) {
    users.push_back({static_cast<int64_t>(variant)});
    types.push_back(RepeatOp::getStackedType(repeat.getStackDim(users.back()),
                                             cast<NamedTensorType>(value.getType())));
  }
  OpBuilder before(repeat);
  auto extended = before.create<RepeatOp>(
      repeat.getLoc(), types, repeat.getDim(), repeat.getReverse(), repeat.getIterations(),
      repeat.getInits(), repeat.getScannedInputs(), repeat.getAllScannedUsers(), users);
  extended->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  for (auto [to, from] : llvm::zip_equal(extended.getBodies(), repeat.getBodies()))
    to.takeBody(from);
  for (auto [value, variant] : valuesOfVariants)
    extended.getVariant(variant).getYield().getValuesMutable().append(value);
  for (auto [old, result] : llvm::zip(repeat.getResults(), extended.getResults())) {
    if (replaces)
      replaces(old, result);
    old.replaceAllUsesWith(result);
  }
  repeat.erase();
  return extended;
}

namespace {

/// A body of the second repeat, without a parent operation until the operands are known.
class SecondBody {
public:
  SecondBody(RepeatVariant first, function_ref<bool(Value)> isScanned, StringRef message)
      : first(first), isScanned(isScanned), message(message) {
    region.push_back(block = new Block);
    mapping.map(first.getIndex(),
                block->addArgument(first.getIndex().getType(), first.getRepeat().getLoc()));
    for (BlockArgument slice : first.getScannedArgs())
      mapping.map(slice, block->addArgument(slice.getType(), slice.getLoc()));
  }

  /// Yields these values of the first repeat's body.
  LogicalResult yield(ArrayRef<Value> values);

  RepeatVariant first;
  Region region;
  Block *block;
  llvm::SetVector<Value> scanned; ///< values of the first body that the second scans

private:
  FailureOr<Value> get(Value value);

  function_ref<bool(Value)> isScanned;
  StringRef message; ///< of the error if the body would need an iteration argument
  IRMapping mapping;
};

} // namespace

/// The value in the second body that corresponds to `value`. Values that the body does not scan are
/// computed there, from scanned and from invariant values.
FailureOr<Value> SecondBody::get(Value value) {
  if (value.getParentBlock() != &first.getBlock() || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  if (isScanned(value)) {
    scanned.insert(value);
    mapping.map(value, block->addArgument(value.getType(), value.getLoc()));
    return mapping.lookup(value);
  }
  if (!op) {
    InFlightDiagnostic error = first.getRepeat().emitError(message);
    error.attachNote(value.getLoc()) << "the iteration argument";
    return failure();
  }
  for (Value operand : getReadValues(op))
    if (failed(get(operand)))
      return failure();
  OpBuilder builder(op->getContext()); // the block has no parent and therefore no context
  builder.setInsertionPointToEnd(block);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

LogicalResult SecondBody::yield(ArrayRef<Value> values) {
  SmallVector<Value> yielded;
  for (Value value : values) {
    FailureOr<Value> here = get(value);
    if (failed(here))
      return failure();
    yielded.push_back(*here);
  }
  OpBuilder builder(first.getRepeat().getContext());
  builder.setInsertionPointToEnd(block);
  builder.create<YieldOp>(first.getYield().getLoc(), yielded);
  return success();
}

/// Returns the scanned inputs that some body uses, with their users; erases the other block
/// arguments.
static void keepUsedScannedInputs(RepeatOp first, ArrayRef<std::unique_ptr<SecondBody>> bodies,
                                  SmallVectorImpl<Value> &slices, VariantLists &users) {
  unsigned count = first.getScannedInputs().size();
  SmallVector<bool> used(count);
  auto forEach = [&](auto visit) {
    for (const auto &body : bodies) {
      SmallVector<RepeatVariant::ScannedInput> all = body->first.getScannedInputs();
      for (const RepeatVariant::ScannedInput &slice : llvm::reverse(all)) {
        // Block arguments are the index, then the scanned inputs. The first body has iteration
        // arguments between them.
        unsigned at = slice.slot.getArgNumber() - first.getNumIterArgs();
        visit(*body->block, at, slice.number);
      }
    }
  };
  forEach([&](Block &block, unsigned at, unsigned number) {
    used[number] = used[number] || !block.getArgument(at).use_empty();
  });
  forEach([&](Block &block, unsigned at, unsigned number) {
    if (!used[number])
      block.eraseArgument(at);
  });
  for (unsigned number = 0; number < count; ++number)
    if (used[number]) {
      slices.push_back(first.getScannedInputs()[number]);
      users.push_back(first.getScannedUsers(number));
    }
}

FailureOr<RepeatOp> titan::ir::distributeRepeat(RepeatOp repeat, ArrayRef<unsigned> moved,
                                                function_ref<bool(Value)> isScanned,
                                                StringRef message) {
  SmallVector<std::unique_ptr<SecondBody>> bodies;
  SmallVector<std::pair<Value, unsigned>> scanned;
  for (const RepeatVariant &variant : repeat.getVariants()) {
    bodies.push_back(std::make_unique<SecondBody>(variant, isScanned, message));
    SmallVector<Value> values;
    for (const RepeatVariant::StackedOutput &stack : variant.getStackedOutputs())
      if (llvm::is_contained(moved, stack.output.getResultNumber()))
        values.push_back(stack.value);
    if (failed(bodies.back()->yield(values)))
      return failure();
    for (Value value : bodies.back()->scanned)
      scanned.push_back({value, variant.getNumber()});
  }
  SmallVector<Value> slices;
  VariantLists scannedUsers, stackedUsers;
  keepUsedScannedInputs(repeat, bodies, slices, scannedUsers);
  SmallVector<Type> types;
  for (unsigned result : moved) {
    types.push_back(repeat.getResult(result).getType());
    stackedUsers.push_back(repeat.getStackedUsers(result - repeat.getNumIterArgs()));
  }
  unsigned numOld = repeat.getNumResults();
  RepeatOp first = appendStackedOutputs(repeat, scanned);
  for (auto [stack, value] : llvm::zip_equal(first.getResults().drop_front(numOld), scanned)) {
    slices.push_back(stack);
    scannedUsers.push_back({static_cast<int64_t>(value.second)});
  }
  OpBuilder after(first->getContext());
  after.setInsertionPointAfter(first);
  auto second = after.create<RepeatOp>(first.getLoc(), types, first.getDim(), first.getReverse(),
                                       first.getIterations(), ValueRange(), slices, scannedUsers,
                                       stackedUsers);
  second->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  for (auto [to, body] : llvm::zip_equal(second.getBodies(), bodies))
    to.takeBody(body->region);
  for (auto [number, stack] : llvm::zip_equal(moved, second.getResults()))
    first.getResult(number).replaceAllUsesWith(stack);
  return second;
}

LogicalResult titan::ir::distributeRepeat(RepeatOp repeat, const BatchDependence &dependence) {
  SmallVector<unsigned> moved;
  for (Value stack : repeat.getStackedOutputs())
    if (dependence.getDependence(stack).kind == Dependence::AfterAccumulation)
      moved.push_back(cast<OpResult>(stack).getResultNumber());
  auto isSum = [&](Value value) {
    return dependence.getDependence(value).kind == Dependence::Accumulated;
  };
  return distributeRepeat(repeat, moved, isSum,
                          "needs a sum over the whole batch together with an iteration argument, "
                          "so the step cannot be split into microbatches");
}
