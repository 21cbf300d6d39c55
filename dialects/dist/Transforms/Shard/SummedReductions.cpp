// Moves reductions behind the loop that adds up their results.

#include "dialects/dist/Transforms/Shard/SummedReductions.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/TensorType.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;
using ir::RepeatOp;
using ir::RepeatVariant;

static NamedTensorType getType(Value value) {
  return cast<NamedTensorType>(value.getType());
}

namespace {

/// A reduction of each value that one result of the loop adds up.
struct Reduction {
  Operation *operation; ///< one of them; all have its attributes
  NamedTensorType type; ///< of their results
};

/// A sum over the iterations of a loop: an iteration argument to which each iteration adds a term.
class LoopSum {
public:
  LoopSum(RepeatOp loop, unsigned number) : loop(loop), number(number) {}

  /// Moves the reductions of the terms. Returns false if there are none.
  bool sink(SunkScatters sunk) {
    if (!findTerm())
      return false;
    const bool scatters = sunk == SunkScatters::All || (sunk == SunkScatters::Unstacked && !stack);
    SmallVector<Value> values = getReduced();
    while (peel(values, scatters)) {
    }
    if (reductions.empty())
      return false;
    replaceTerm(values);
    replaceSum();
    return true;
  }

private:
  static bool isZero(Value init) {
    if (auto expand = init.getDefiningOp<ir::ExpandOp>())
      init = expand.getInput();
    auto constant = init.getDefiningOp<ir::ConstantOp>();
    return constant && constant.getNumber() == 0;
  }

  /// Finds the addition and its term, which is a reduction or a stack of reductions.
  bool findTerm() {
    if (loop.getNumVariants() != 1 || !isZero(loop.getInits()[number]))
      return false;
    RepeatVariant body = loop.getVariant(0);
    BlockArgument sum = body.getIterArgs()[number];
    add = body.getYieldedIterArgs()[number].getDefiningOp<ir::AddOp>();
    if (!add || !add->hasOneUse() || !sum.hasOneUse() || add->getOperand(0) != sum)
      return false;
    auto term = dyn_cast<OpResult>(add->getOperand(1));
    if (!term || !term.hasOneUse() || term.getOwner()->getBlock() != &body.getBlock())
      return false;
    stack = dyn_cast<RepeatOp>(term.getOwner());
    return !stack || term.getResultNumber() >= stack.getNumIterArgs();
  }

  unsigned getStackNumber() const { return cast<OpResult>(add->getOperand(1)).getResultNumber(); }

  SmallVector<Value> getReduced() {
    if (stack)
      return stack.getYielded(getStackNumber());
    return {add->getOperand(1)};
  }

  static bool isSunk(Operation *op, bool scatters) {
    if (!isa_and_nonnull<AllReduceOp>(op) && !(scatters && isa_and_nonnull<ReduceScatterOp>(op)))
      return false;
    return op->getNumResults() == 1 && op->getResult(0).hasOneUse() &&
           getType(op->getOperand(0)).getShardingOrReplicated().getPartialKind() ==
               ReductionKind::Sum;
  }

  /// Replaces values by their unreduced ones if equal reductions define all of them.
  bool peel(SmallVector<Value> &values, bool scatters) {
    Operation *first = values.front().getDefiningOp();
    auto isEqual = [&](Value value) {
      Operation *op = value.getDefiningOp();
      return isSunk(op, scatters) && op->getName() == first->getName() &&
             op->getAttr("axes") == first->getAttr("axes") &&
             op->getOperandTypes() == first->getOperandTypes();
    };
    if (!llvm::all_of(values, isEqual))
      return false;
    reductions.push_back({first, getType(values.front())});
    for (Value &value : values)
      value = value.getDefiningOp()->getOperand(0);
    return true;
  }

  /// The type of the sum for a term of type `slot`, which may be a slot of a stack.
  NamedTensorType getSumType(NamedTensorType slot) {
    if (!stack)
      return slot;
    return RepeatOp::getStackedType(getType(add->getOperand(1)).getDims().front(), slot);
  }

  void replaceTerm(ArrayRef<Value> values) {
    sumType = getSumType(getType(values.front()));
    if (!stack) {
      add->setOperand(1, values.front());
      return;
    }
    for (const RepeatVariant &body : stack.getVariants())
      for (auto [value, output, operand] : body.getStackedOutputs())
        if (output.getResultNumber() == getStackNumber())
          body.getYield()->setOperand(operand, unreduce(value));
    stack.getResult(getStackNumber()).setType(sumType);
  }

  Value unreduce(Value value) const {
    for (size_t i = 0; i < reductions.size(); ++i)
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  /// Gives the sum its partial type, and reduces the result of the loop.
  void replaceSum() {
    OpBuilder builder(loop);
    Location loc = loop.getInits()[number].getLoc();
    auto scalar = NamedTensorType::get(sumType.getElementType(), {});
    ShardingAttr replicated = scalar.getShardingOrReplicated();
    ArrayAttr axes = sumType.getShardingOrReplicated().getPartialAxes();
    Value zero = builder.create<ir::ConstantOp>(loc, scalar.withSharding(replicated), 0.0);
    Value partial = builder.create<MakePartialOp>(
        loc, scalar.withSharding(replicated.withPartial(axes, ReductionKind::Sum)), zero, axes);
    loop->setOperand(number, builder.create<ir::ExpandOp>(loc, sumType, partial));
    loop.getVariant(0).getIterArgs()[number].setType(sumType);
    add->getResult(0).setType(sumType);
    Value sum = loop.getResult(number);
    sum.setType(sumType);
    builder.setInsertionPointAfter(loop);
    Operation *first = nullptr;
    for (const Reduction &reduction : llvm::reverse(reductions)) {
      OperationState state(reduction.operation->getLoc(), reduction.operation->getName(), sum,
                           getSumType(reduction.type), reduction.operation->getAttrs());
      Operation *op = builder.create(state);
      first = first ? first : op;
      sum = op->getResult(0);
    }
    loop.getResult(number).replaceAllUsesExcept(sum, first);
    eraseReductions();
  }

  /// Erases what the terms no longer use.
  void eraseReductions() {
    loop->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isa<AllReduceOp, ReduceScatterOp>(op) && op->use_empty())
        op->erase();
    });
  }

  RepeatOp loop;
  unsigned number;
  ir::AddOp add;
  RepeatOp stack;                    ///< the repeat that stacks the terms; null if none does
  SmallVector<Reduction> reductions; ///< from the last to the first
  NamedTensorType sumType;
};

} // namespace

unsigned dist::sinkReductions(RepeatOp loop, SunkScatters scatters) {
  unsigned numSums = 0;
  for (unsigned number = 0; number < loop.getNumIterArgs(); ++number)
    numSums += LoopSum(loop, number).sink(scatters);
  return numSums;
}
