//===- RepeatEdit.cpp - A repeat that carries or stacks more --------------===//

#include "dialects/dist/Transforms/RepeatEdit.h"

using namespace mlir;
using namespace titan;
using ir::RepeatOp;

RepeatOp dist::extend(RepeatOp repeat, const RepeatAdditions &additions) {
  OpBuilder builder(repeat);
  unsigned carried = repeat.getNumCarried(), added = additions.inits.size();
  SmallVector<Value> inits(repeat.getInits()), slices(repeat.getSlices());
  llvm::append_range(inits, additions.inits);
  llvm::append_range(slices, additions.slices);
  SmallVector<Type> stacked(repeat.getStackedResults().getTypes());
  for (Value value : additions.stacks)
    stacked.push_back(RepeatOp::getStackedType(repeat.getDim(),
                                               cast<ir::NamedTensorType>(value.getType())));
  auto wider = builder.create<RepeatOp>(repeat.getLoc(), repeat.getDim(), repeat.getReverse(),
                                        inits, slices, stacked);
  wider->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  Block &from = repeat.getBody().front(), &to = wider.getBody().front();
  for (BlockArgument argument : from.getArguments()) {
    unsigned number = argument.getArgNumber();
    BlockArgument moved = to.getArgument(number <= carried ? number : number + added);
    moved.setType(argument.getType());
    moved.setLoc(argument.getLoc());
    argument.replaceAllUsesWith(moved);
  }
  to.getOperations().splice(to.end(), from.getOperations());
  SmallVector<Value> yielded(wider.getYield().getValues());
  auto arguments = wider.getCarriedArgs().drop_front(carried);
  yielded.insert(yielded.begin() + carried, arguments.begin(), arguments.end());
  llvm::append_range(yielded, additions.stacks);
  wider.getYield()->setOperands(yielded);
  for (auto [i, result] : llvm::enumerate(repeat.getResults()))
    result.replaceAllUsesWith(wider.getResult(i < carried ? i : i + added));
  repeat.erase();
  return wider;
}
