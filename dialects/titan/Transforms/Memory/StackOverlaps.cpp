// Stack overlaps as attributes, and properties of stacks.

#include "dialects/titan/Transforms/Memory/StackOverlaps.h"

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

static DenseI64ArrayAttr packConstraints(Builder &builder,
                                         const std::vector<arena::OffsetConstraint> &constraints) {
  SmallVector<int64_t> numbers;
  for (arena::OffsetConstraint constraint : constraints)
    numbers.append({constraint.below, constraint.above});
  return builder.getDenseI64ArrayAttr(numbers);
}

static std::vector<arena::OffsetConstraint> unpackConstraints(ArrayRef<int64_t> numbers) {
  std::vector<arena::OffsetConstraint> constraints;
  for (; numbers.size() >= 2; numbers = numbers.drop_front(2))
    constraints.push_back({numbers[0], numbers[1]});
  return constraints;
}

Attribute memory::packStackOverlap(MLIRContext *context, const arena::StackOverlap &overlap) {
  Builder builder(context);
  auto pack = [&](StringRef name, ArrayRef<int64_t> numbers) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(numbers));
  };
  SmallVector<int64_t> consumed(overlap.consumed.begin(), overlap.consumed.end()),
      produced(overlap.produced.begin(), overlap.produced.end());
  return builder.getDictionaryAttr(
      {pack("consumed", consumed), pack("produced", produced),
       pack("slots", {overlap.consumedSlots, overlap.producedSlots}),
       builder.getNamedAttr("above", packConstraints(builder, overlap.producedAbove)),
       builder.getNamedAttr("below", packConstraints(builder, overlap.producedBelow))});
}

FailureOr<arena::StackOverlap> memory::unpackStackOverlap(Attribute attribute) {
  auto fields = dyn_cast<DictionaryAttr>(attribute);
  SmallVector<ArrayRef<int64_t>> lists;
  for (StringRef name : {"consumed", "produced", "slots", "above", "below"}) {
    auto list = fields ? fields.getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr();
    if (!list)
      return failure();
    lists.push_back(list.asArrayRef());
  }
  if (lists[2].size() != 2 || lists[3].size() % 2 != 0 || lists[4].size() % 2 != 0)
    return failure();
  return arena::StackOverlap{{lists[0].begin(), lists[0].end()},
                             {lists[1].begin(), lists[1].end()},
                             lists[2][0],
                             lists[2][1],
                             unpackConstraints(lists[3]),
                             unpackConstraints(lists[4])};
}

std::vector<arena::StackOverlap> memory::getStackOverlaps(func::FuncOp function) {
  std::vector<arena::StackOverlap> stackOverlaps;
  function.walk([&](RepeatOp repeat) {
    if (auto list = repeat->getAttrOfType<ArrayAttr>(kStackOverlaps))
      for (Attribute attribute : list)
        if (FailureOr<arena::StackOverlap> overlap = unpackStackOverlap(attribute);
            succeeded(overlap))
          stackOverlaps.push_back(std::move(*overlap));
  });
  return stackOverlaps;
}

int64_t memory::getLevel(RepeatOp repeat) {
  int64_t level = 0;
  for (Operation *op = repeat->getParentOp(); op; op = op->getParentOp())
    level += isa<RepeatOp>(op);
  return level;
}

bool memory::hasEqualSlots(NamedTensorType stack) {
  dist::ShardingAttr sharding = stack.getShardingOrReplicated();
  return stack.getRank() > 0 && sharding.getDimAxes().front().empty() &&
         (!sharding.isFlat() || sharding.getFlatFrom() > 0);
}

bool memory::endsInBlock(Operation *op) {
  return !dist::getStartChannel(op) || llvm::all_of(op->getUsers(), [&](Operation *user) {
    return isa<dist::WaitOp>(user) && user->getBlock() == op->getBlock();
  });
}
