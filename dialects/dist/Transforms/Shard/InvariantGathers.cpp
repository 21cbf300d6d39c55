// Moves gathers of parameters across the loop over microbatches.

#include "dialects/dist/Transforms/Shard/InvariantGathers.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/dist/Support/RepeatEdit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;
using ir::RepeatOp;
using ir::RepeatVariant;

namespace {

/// A gather and the casts before it, in order, with the value from which they start.
struct GatherChain {
  explicit GatherChain(AllGatherOp gather) : operations{gather.getOperation()} {
    source = gather.getInputs().front();
    for (auto cast = source.getDefiningOp<ir::CastOp>(); cast;
         cast = source.getDefiningOp<ir::CastOp>()) {
      operations.insert(operations.begin(), cast);
      source = cast.getInput();
    }
  }

  AllGatherOp getGather() const { return cast<AllGatherOp>(operations.back()); }
  Value getResult() const { return operations.back()->getResult(0); }

  /// Erases the operations without uses.
  void erase() const {
    for (Operation *op : llvm::reverse(operations))
      if (op->use_empty())
        op->erase();
  }

  SmallVector<Operation *> operations;
  Value source;
};

/// The gathers of `block` itself, of one tensor each.
SmallVector<GatherChain> findChains(Block &block) {
  SmallVector<GatherChain> chains;
  for (auto gather : block.getOps<AllGatherOp>())
    if (gather.getInputs().size() == 1)
      chains.emplace_back(gather);
  return chains;
}

/// The scanned input of which `value` is a slot; null if it is none.
Value getStack(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  std::optional<RepeatVariant> body =
      argument ? ir::findVariant(argument.getOwner()) : std::optional<RepeatVariant>();
  if (body)
    for (const RepeatVariant::ScannedInput &slice : body->getScannedInputs())
      if (slice.slot == argument)
        return slice.input;
  return {};
}

/// Follows slots, casts and gathers to a parameter of the function.
bool isOfParameter(Value value) {
  while (true) {
    if (Value stack = getStack(value))
      value = stack;
    else if (Operation *op = value.getDefiningOp();
             isa_and_nonnull<ir::CastOp, AllGatherOp>(op) && op->getNumOperands() == 1)
      value = op->getOperand(0);
    else
      return bool(getParameter(value));
  }
}

/// Gathers before an operation, each once.
class SharedGathers {
public:
  explicit SharedGathers(Operation *before) : builder(before) {
    for (const GatherChain &chain : findChains(*before->getBlock()))
      if (chain.getGather()->isBeforeInBlock(before))
        for (Operation *op : chain.operations)
          results.insert(
              {{op->getOperand(0), op->getAttrDictionary(), op->getResultTypes().front()},
               op->getResult(0)});
  }

  /// The chain applied to `source`, a stack of the chain's source if `isStack`.
  Value get(const GatherChain &chain, Value source, bool isStack) {
    for (Operation *op : chain.operations) {
      Type type = op->getResultTypes().front();
      if (isStack)
        type = RepeatOp::getStackedType(cast<NamedTensorType>(source.getType()).getDims().front(),
                                        cast<NamedTensorType>(type));
      Value &result = results[{source, op->getAttrDictionary(), type}];
      if (!result)
        result = create(op, source, type);
      source = result;
    }
    return source;
  }

  unsigned getNumGathers() const { return numGathers; }

private:
  Value create(Operation *op, Value source, Type type) {
    OperationState state(op->getLoc(), op->getName(), source, type, op->getAttrs());
    numGathers += isa<AllGatherOp>(op);
    return builder.create(state)->getResult(0);
  }

  OpBuilder builder;
  DenseMap<std::tuple<Value, Attribute, Type>, Value> results;
  unsigned numGathers = 0;
};

/// Moves the gathers of slots out of repeats, which scan the gathered stacks instead.
class SlotGathers {
public:
  explicit SlotGathers(RepeatOp repeat) : repeat(repeat), gathers(repeat) {}

  /// Returns the repeat that replaces `repeat`, or null if there was nothing to move.
  RepeatOp move() {
    for (const RepeatVariant &body : repeat.getVariants())
      collect(body);
    if (moved.empty())
      return {};
    const unsigned numBefore = repeat.getScannedInputs().size();
    repeat = addScannedInputs(repeat, stacks);
    for (const RepeatVariant &body : repeat.getVariants())
      replaceIn(body, numBefore);
    for (const auto &[chain, number] : moved)
      chain.erase();
    return removeUnusedScannedInputs(repeat);
  }

private:
  void collect(const RepeatVariant &body) {
    DenseMap<Value, RepeatVariant::ScannedInput> slices;
    for (const RepeatVariant::ScannedInput &slice : body.getScannedInputs())
      slices.insert({slice.slot, slice});
    for (const GatherChain &chain : findChains(body.getBlock())) {
      auto slice = slices.find(chain.source);
      if (slice == slices.end() || !isOfParameter(chain.source))
        continue;
      Value stack = gathers.get(chain, slice->second.input, /*isStack=*/true);
      auto [number, isNew] = numbers.try_emplace(stack, stacks.size());
      if (isNew)
        stacks.push_back({stack, repeat.getScannedUsers(slice->second.number)});
      moved.push_back({chain, number->second});
    }
  }

  /// Lets the operations of one body read the new slots.
  void replaceIn(const RepeatVariant &body, unsigned numBefore) const {
    DenseMap<unsigned, Value> slots;
    for (const RepeatVariant::ScannedInput &slice : body.getScannedInputs())
      slots[slice.number] = slice.slot;
    for (const auto &[chain, number] : moved)
      if (chain.getGather()->getBlock() == &body.getBlock())
        chain.getResult().replaceAllUsesWith(slots.lookup(numBefore + number));
  }

  RepeatOp repeat;
  SharedGathers gathers;
  SmallVector<std::pair<GatherChain, unsigned>> moved; ///< with the number of its new stack
  SmallVector<VariantStack> stacks;
  DenseMap<Value, unsigned> numbers; ///< of the new stacks
};

/// Moves gathers out of the repeats in `block`, of inner repeats first. A gather of a gathered slot
/// moves after the first one.
void hoistFromRepeats(Block &block) {
  for (RepeatOp repeat : llvm::to_vector(block.getOps<RepeatOp>())) {
    for (const RepeatVariant &body : repeat.getVariants())
      hoistFromRepeats(body.getBlock());
    while (repeat)
      repeat = SlotGathers(repeat).move();
  }
}

} // namespace

unsigned dist::hoistInvariantGathers(RepeatOp loop) {
  SharedGathers gathers(loop);
  for (const RepeatVariant &body : loop.getVariants())
    // Chains are found one by one: a gather of a gathered value follows the gather before the loop.
    for (auto gather : llvm::make_early_inc_range(body.getBlock().getOps<AllGatherOp>())) {
      if (gather.getInputs().size() != 1)
        continue;
      GatherChain chain(gather);
      Operation *holder = chain.source.getParentBlock()->getParentOp();
      if (loop->isAncestor(holder) || !isOfParameter(chain.source))
        continue;
      chain.getResult().replaceAllUsesWith(gathers.get(chain, chain.source, /*isStack=*/false));
      chain.erase();
    }
  return gathers.getNumGathers();
}

unsigned dist::hoistGathers(RepeatOp loop) {
  for (const RepeatVariant &body : loop.getVariants())
    hoistFromRepeats(body.getBlock());
  return hoistInvariantGathers(loop);
}

unsigned dist::sinkGathers(RepeatOp loop) {
  if (loop.getNumVariants() != 1)
    return 0;
  Block &body = loop.getVariant(0).getBlock();
  unsigned numMoved = 0;
  // From the last on, so that a gather of a gathered value moves first.
  const SmallVector<GatherChain> chains = findChains(*loop->getBlock());
  for (const GatherChain &chain : llvm::reverse(chains)) {
    auto isInside = [&](Operation *user) { return loop->isProperAncestor(user); };
    if (!isOfParameter(chain.source) || !llvm::all_of(chain.getResult().getUsers(), isInside))
      continue;
    Operation *first = nullptr;
    for (Operation *user : chain.getResult().getUsers())
      if (Operation *op = body.findAncestorOpInBlock(*user); !first || op->isBeforeInBlock(first))
        first = op;
    if (!first)
      continue;
    SharedGathers gathers(first);
    chain.getResult().replaceAllUsesWith(gathers.get(chain, chain.source, /*isStack=*/false));
    chain.erase();
    ++numMoved;
  }
  return numMoved;
}
