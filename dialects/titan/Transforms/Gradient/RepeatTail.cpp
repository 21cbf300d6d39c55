//===- RepeatTail.cpp - A repeat parted where sums are complete -----------===//

#include "dialects/titan/Transforms/Gradient/RepeatTail.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace titan::ir;

RepeatOp titan::ir::appendStacks(RepeatOp repeat,
                                 ArrayRef<std::pair<Value, unsigned>> valuesOfVariants,
                                 function_ref<void(Value, Value)> replaces) {
  SmallVector<Type> types(repeat.getResultTypes());
  VariantLists users = repeat.getAllStackUsers();
  for (auto [value, variant] : valuesOfVariants) {
    users.push_back({static_cast<int64_t>(variant)});
    types.push_back(RepeatOp::getStackedType(repeat.getStackDim(users.back()),
                                             cast<NamedTensorType>(value.getType())));
  }
  OpBuilder before(repeat);
  auto extended = before.create<RepeatOp>(
      repeat.getLoc(), types, repeat.getDim(), repeat.getReverse(), repeat.getIterations(),
      repeat.getInits(), repeat.getSlices(), repeat.getAllSliceUsers(), users);
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

/// The tail's body for one variant, outside of any operation until its operands are known.
class TailBody {
public:
  TailBody(RepeatVariant head, const BatchFlow &flow) : head(head), flow(flow) {
    region.push_back(block = new Block);
    mapping.map(head.getIndex(),
                block->addArgument(head.getIndex().getType(), head.getRepeat().getLoc()));
    for (BlockArgument slice : head.getSliceArgs())
      mapping.map(slice, block->addArgument(slice.getType(), slice.getLoc()));
  }

  /// Yields these values of the head.
  LogicalResult yield(ArrayRef<Value> values);

  RepeatVariant head;
  Region region;
  Block *block;
  llvm::SetVector<Value> sums; ///< of the head's body, of which the tail gets the stacks

private:
  FailureOr<Value> get(Value value);

  const BatchFlow &flow;
  IRMapping mapping;
};

} // namespace

/// The value as the tail has it: a complete sum is a slice of its stack, everything else is
/// computed from these, or again from what is the same for all parts.
FailureOr<Value> TailBody::get(Value value) {
  if (value.getParentBlock() != &head.getBlock() || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  if (flow.get(value).kind == Flow::Sum) {
    sums.insert(value);
    mapping.map(value, block->addArgument(value.getType(), value.getLoc()));
    return mapping.lookup(value);
  }
  if (!op) {
    InFlightDiagnostic error = head.getRepeat().emitError(
        "needs a sum over the whole batch together with a value that it carries, so the step "
        "cannot be computed a part at a time");
    error.attachNote(value.getLoc()) << "the carried value";
    return failure();
  }
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Value operand : read)
    if (failed(get(operand)))
      return failure();
  OpBuilder builder(op->getContext()); // the block is in no operation yet, so it knows none
  builder.setInsertionPointToEnd(block);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

LogicalResult TailBody::yield(ArrayRef<Value> values) {
  SmallVector<Value> yielded;
  for (Value value : values) {
    FailureOr<Value> here = get(value);
    if (failed(here))
      return failure();
    yielded.push_back(*here);
  }
  OpBuilder builder(head.getRepeat().getContext());
  builder.setInsertionPointToEnd(block);
  builder.create<YieldOp>(head.getYield().getLoc(), yielded);
  return success();
}

/// The slices that some body uses, with their users; the arguments for others go.
static void keepUsedSlices(RepeatOp head, ArrayRef<std::unique_ptr<TailBody>> bodies,
                           SmallVectorImpl<Value> &slices, VariantLists &users) {
  unsigned count = head.getSlices().size();
  SmallVector<bool> used(count);
  auto forEach = [&](auto visit) {
    for (const auto &body : bodies) {
      SmallVector<RepeatVariant::Slice> all = body->head.getSlices();
      for (const RepeatVariant::Slice &slice : llvm::reverse(all)) {
        // Behind the index, in the order of the head's, which carries values before them.
        unsigned at = slice.slice.getArgNumber() - head.getNumCarried();
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
      slices.push_back(head.getSlices()[number]);
      users.push_back(head.getSliceUsers(number));
    }
}

LogicalResult titan::ir::splitTail(RepeatOp repeat, const BatchFlow &flow) {
  SmallVector<unsigned> moved; // results
  for (Value stack : repeat.getStackedResults())
    if (flow.get(stack).kind == Flow::After)
      moved.push_back(cast<OpResult>(stack).getResultNumber());
  SmallVector<std::unique_ptr<TailBody>> bodies;
  SmallVector<std::pair<Value, unsigned>> sums;
  for (const RepeatVariant &variant : repeat.getVariants()) {
    bodies.push_back(std::make_unique<TailBody>(variant, flow));
    SmallVector<Value> values;
    for (const RepeatVariant::Stack &stack : variant.getStacks())
      if (llvm::is_contained(moved, stack.stack.getResultNumber()))
        values.push_back(stack.value);
    if (failed(bodies.back()->yield(values)))
      return failure();
    for (Value sum : bodies.back()->sums)
      sums.push_back({sum, variant.getNumber()});
  }
  SmallVector<Value> slices;
  VariantLists sliceUsers, stackUsers;
  keepUsedSlices(repeat, bodies, slices, sliceUsers);
  SmallVector<Type> types;
  for (unsigned result : moved) {
    types.push_back(repeat.getResult(result).getType());
    stackUsers.push_back(repeat.getStackUsers(result - repeat.getNumCarried()));
  }
  unsigned numOld = repeat.getNumResults();
  RepeatOp head = appendStacks(repeat, sums);
  for (auto [stack, sum] : llvm::zip_equal(head.getResults().drop_front(numOld), sums)) {
    slices.push_back(stack);
    sliceUsers.push_back({static_cast<int64_t>(sum.second)});
  }
  OpBuilder behind(head->getContext());
  behind.setInsertionPointAfter(head);
  auto tail =
      behind.create<RepeatOp>(head.getLoc(), types, head.getDim(), head.getReverse(),
                              head.getIterations(), ValueRange(), slices, sliceUsers, stackUsers);
  for (auto [to, body] : llvm::zip_equal(tail.getBodies(), bodies))
    to.takeBody(body->region);
  for (auto [number, stack] : llvm::zip_equal(moved, tail.getResults()))
    head.getResult(number).replaceAllUsesWith(stack);
  return success();
}
