//===- Handovers.cpp - Stacks that may lie over one another ---------------===//

#include "dialects/titan/Transforms/Memory/Handovers.h"

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

static DenseI64ArrayAttr packCorners(Builder &builder, const std::vector<arena::Corner> &corners) {
  SmallVector<int64_t> numbers;
  for (arena::Corner corner : corners)
    numbers.append({corner.below, corner.above});
  return builder.getDenseI64ArrayAttr(numbers);
}

static std::vector<arena::Corner> unpackCorners(ArrayRef<int64_t> numbers) {
  std::vector<arena::Corner> corners;
  for (; numbers.size() >= 2; numbers = numbers.drop_front(2))
    corners.push_back({numbers[0], numbers[1]});
  return corners;
}

Attribute memory::packHandover(MLIRContext *context, const arena::Handover &handover) {
  Builder builder(context);
  auto pack = [&](StringRef name, ArrayRef<int64_t> numbers) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(numbers));
  };
  SmallVector<int64_t> emptied(handover.emptied.begin(), handover.emptied.end()),
      filled(handover.filled.begin(), handover.filled.end());
  return builder.getDictionaryAttr(
      {pack("emptied", emptied), pack("filled", filled),
       pack("slots", {handover.emptiedSlots, handover.filledSlots}),
       builder.getNamedAttr("above", packCorners(builder, handover.filledAbove)),
       builder.getNamedAttr("below", packCorners(builder, handover.filledBelow))});
}

FailureOr<arena::Handover> memory::unpackHandover(Attribute attribute) {
  auto fields = dyn_cast<DictionaryAttr>(attribute);
  SmallVector<ArrayRef<int64_t>> lists;
  for (StringRef name : {"emptied", "filled", "slots", "above", "below"}) {
    auto list = fields ? fields.getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr();
    if (!list)
      return failure();
    lists.push_back(list.asArrayRef());
  }
  if (lists[2].size() != 2 || lists[3].size() % 2 != 0 || lists[4].size() % 2 != 0)
    return failure();
  return arena::Handover{{lists[0].begin(), lists[0].end()},
                         {lists[1].begin(), lists[1].end()},
                         lists[2][0],
                         lists[2][1],
                         unpackCorners(lists[3]),
                         unpackCorners(lists[4])};
}

std::vector<arena::Handover> memory::getHandovers(func::FuncOp function) {
  std::vector<arena::Handover> handovers;
  function.walk([&](RepeatOp repeat) {
    if (auto list = repeat->getAttrOfType<ArrayAttr>(kHandovers))
      for (Attribute attribute : list)
        if (FailureOr<arena::Handover> handover = unpackHandover(attribute); succeeded(handover))
          handovers.push_back(std::move(*handover));
  });
  return handovers;
}

int64_t memory::getLevel(RepeatOp repeat) {
  int64_t level = 0;
  for (Operation *op = repeat->getParentOp(); op; op = op->getParentOp())
    level += isa<RepeatOp>(op);
  return level;
}

bool memory::hasEqualRows(NamedTensorType stack) {
  dist::ShardingAttr sharding = stack.getShardingOrReplicated();
  return stack.getRank() > 0 && sharding.getDimAxes().front().empty() &&
         (!sharding.isFlat() || sharding.getFlatFrom() > 0);
}

bool memory::endsInBlock(Operation *op) {
  return !dist::getStartChannel(op) || llvm::all_of(op->getUsers(), [&](Operation *user) {
    return isa<dist::WaitOp>(user) && user->getBlock() == op->getBlock();
  });
}
