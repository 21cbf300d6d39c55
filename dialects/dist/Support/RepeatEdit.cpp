// Repeats with more inputs or outputs.

#include "dialects/dist/Support/RepeatEdit.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include <map>

using namespace mlir;
using namespace titan;
using ir::NamedTensorType;
using ir::RepeatOp;

/// Replaces `repeat` by one with the same bodies. New iteration arguments and stacked outputs
/// follow the existing ones.
static RepeatOp replace(RepeatOp repeat, TypeRange types, ValueRange inits, ValueRange slices,
                        const ir::VariantLists &scannedUsers,
                        const ir::VariantLists &stackedUsers) {
  auto wider = OpBuilder(repeat).create<RepeatOp>(repeat.getLoc(), types, repeat.getDim(),
                                                  repeat.getReverse(), repeat.getIterations(),
                                                  inits, slices, scannedUsers, stackedUsers);
  wider->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  for (auto [to, from] : llvm::zip_equal(wider.getBodies(), repeat.getBodies()))
    to.takeBody(from);
  unsigned carried = repeat.getNumIterArgs(), added = inits.size() - carried;
  for (auto [i, result] : llvm::enumerate(repeat.getResults()))
    result.replaceAllUsesWith(wider.getResult(i < carried ? i : i + added));
  repeat.erase();
  return wider;
}

RepeatOp dist::addIterArgs(RepeatOp repeat, ValueRange added) {
  unsigned carried = repeat.getNumIterArgs();
  for (const ir::RepeatVariant &body : repeat.getVariants()) {
    SmallVector<Value> arguments;
    for (auto [i, init] : llvm::enumerate(added)) {
      auto result = dyn_cast<OpResult>(init);
      arguments.push_back(
          body.getBlock().insertArgument(static_cast<unsigned>(1 + carried + i), init.getType(),
                                         result ? getValueLocation(result) : init.getLoc()));
    }
    body.getYield()->insertOperands(carried, arguments);
  }
  SmallVector<Value> inits(repeat.getInits());
  llvm::append_range(inits, added);
  SmallVector<Type> types(ValueRange(inits).getTypes());
  llvm::append_range(types, repeat.getStackedOutputs().getTypes());
  return replace(repeat, types, inits, repeat.getScannedInputs(), repeat.getAllScannedUsers(),
                 repeat.getAllStackedUsers());
}

RepeatOp dist::splitVariants(RepeatOp repeat, int64_t count) {
  const ir::IterationTable table = repeat.getIterations();
  std::map<std::pair<int64_t, int64_t>, int64_t> numbers; // of a former variant and a remainder
  SmallVector<int64_t> variants, origins;
  for (int64_t i = 0; i < table.getNumIterations(); ++i) {
    const int64_t origin = table.getVariant(i);
    auto [it, isNew] = numbers.try_emplace({origin, i % count}, origins.size());
    if (isNew)
      origins.push_back(origin);
    variants.push_back(it->second);
  }
  auto widen = [&](const ir::VariantLists &lists) {
    ir::VariantLists wide;
    for (const auto &users : lists) {
      wide.emplace_back();
      for (auto [number, origin] : llvm::enumerate(origins))
        if (users.empty() || llvm::is_contained(users, origin))
          wide.back().push_back(static_cast<int64_t>(number));
    }
    return wide;
  };
  auto split = OpBuilder(repeat).create<RepeatOp>(
      repeat.getLoc(), repeat.getResultTypes(), repeat.getDim(), repeat.getReverse(),
      ir::IterationTable(std::move(variants)), repeat.getInits(), repeat.getScannedInputs(),
      widen(repeat.getAllScannedUsers()), widen(repeat.getAllStackedUsers()));
  split->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  for (auto [to, origin] : llvm::zip_equal(split.getBodies(), origins)) {
    IRMapping mapping;
    repeat->getRegion(origin).cloneInto(&to, mapping);
  }
  repeat.replaceAllUsesWith(split.getResults());
  repeat.erase();
  return split;
}

RepeatOp dist::addScannedInputs(RepeatOp repeat, ArrayRef<VariantStack> stacks) {
  SmallVector<Value> slices(repeat.getScannedInputs());
  ir::VariantLists users = repeat.getAllScannedUsers();
  for (const auto &[stack, variants] : stacks) {
    slices.push_back(stack);
    users.push_back(variants);
    for (int64_t variant : variants)
      repeat.getVariant(variant).getBlock().addArgument(
          RepeatOp::getSlotType(cast<NamedTensorType>(stack.getType())), stack.getLoc());
  }
  return replace(repeat, repeat.getResultTypes(), repeat.getInits(), slices, users,
                 repeat.getAllStackedUsers());
}

RepeatOp dist::removeUnusedScannedInputs(RepeatOp repeat) {
  SmallVector<bool> isUsed(repeat.getScannedInputs().size(), false);
  for (const ir::RepeatVariant &body : repeat.getVariants())
    for (const ir::RepeatVariant::ScannedInput &slice : body.getScannedInputs())
      isUsed[slice.number] = isUsed[slice.number] || !slice.slot.use_empty();
  if (llvm::all_of(isUsed, [](bool used) { return used; }))
    return repeat;
  for (const ir::RepeatVariant &body : repeat.getVariants()) {
    const auto scannedInputs = body.getScannedInputs();
    for (const ir::RepeatVariant::ScannedInput &slice : llvm::reverse(scannedInputs))
      if (!isUsed[slice.number])
        body.getBlock().eraseArgument(slice.slot.getArgNumber());
  }
  SmallVector<Value> slices;
  ir::VariantLists users;
  for (auto [number, stack] : llvm::enumerate(repeat.getScannedInputs()))
    if (isUsed[number]) {
      slices.push_back(stack);
      users.push_back(repeat.getScannedUsers(number));
    }
  return replace(repeat, repeat.getResultTypes(), repeat.getInits(), slices, users,
                 repeat.getAllStackedUsers());
}

RepeatOp dist::addStackedOutputs(RepeatOp repeat, ValueRange values) {
  SmallVector<Type> types(repeat.getResultTypes());
  ir::VariantLists users = repeat.getAllStackedUsers();
  for (Value value : values) {
    unsigned variant = ir::findVariant(value.getParentBlock())->getNumber();
    users.push_back({static_cast<int64_t>(variant)});
    types.push_back(RepeatOp::getStackedType(repeat.getStackDim(users.back()),
                                             cast<NamedTensorType>(value.getType())));
    repeat.getVariant(variant).getYield().getValuesMutable().append(value);
  }
  return replace(repeat, types, repeat.getInits(), repeat.getScannedInputs(),
                 repeat.getAllScannedUsers(), users);
}

BlockArgument dist::getParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  if (std::optional<ir::RepeatVariant> body = ir::findVariant(argument.getOwner())) {
    for (const ir::RepeatVariant::ScannedInput &slice : body->getScannedInputs())
      if (slice.slot == argument)
        return getParameter(slice.input);
    return {};
  }
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  bool isParameter = function && function.getArgAttr(argument.getArgNumber(), ir::attr::kParam);
  return isParameter ? argument : BlockArgument();
}
