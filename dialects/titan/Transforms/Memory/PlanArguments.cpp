// Allocations of arguments and results.
//
// Tensors that several programs share or that live between steps are persistent. An input is in a
// transient allocation that is live from the start of its program. An output or gradient is live
// from its definition to the end of its program. A gradient can therefore reuse the memory of an
// activation. A gradient that is a sum over microbatches stays in the allocation of the sum.
// Programs share transient memory, because the runtime reads the results of one program before it
// runs another.

#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

FailureOr<AllocRefAttr> Planner::getArgumentRef(BlockArgument argument) {
  unsigned i = argument.getArgNumber();
  PersistentKey key = getPersistentKey(function, i);
  if (!key && function.getArgAttrOfType<StringAttr>(i, attr::kInput))
    return makeAllocation(argument, /*first=*/0, /*last=*/0);
  if (!key)
    return function.emitError("argument ") << i << " has no role";
  FailureOr<int64_t> index =
      persistent.get(key, cast<NamedTensorType>(argument.getType()), function);
  if (failed(index))
    return failure();
  return getPersistentRef(*index);
}

LogicalResult Planner::assignArguments() {
  SmallVector<Attribute> arguments;
  for (BlockArgument argument : function.getArguments()) {
    FailureOr<AllocRefAttr> ref = getArgumentRef(argument);
    if (failed(ref))
      return failure();
    assign(argument, *ref);
    arguments.push_back(*ref);
  }
  function->setAttr(kArgumentAllocs, ArrayAttr::get(context, arguments));
  return success();
}

/// The argument `titan.step_value` that a function returns unchanged; null for other results.
static BlockArgument findReturnedSum(func::FuncOp function, OpOperand &returned) {
  auto argument = dyn_cast<BlockArgument>(getRoot(returned.get()));
  if (!argument || !function.getArgAttr(argument.getArgNumber(), attr::kStepValue))
    return {};
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto updated = function.getResultAttrOfType<IntegerAttr>(i, attr::kUpdates);
        updated && updated.getInt() == argument.getArgNumber())
      return {};
  return argument;
}

FailureOr<AllocRefAttr> Planner::getResultRef(OpOperand &returned) {
  unsigned index = returned.getOperandNumber();
  if (auto updated = function.getResultAttrOfType<IntegerAttr>(index, attr::kUpdates)) {
    if (updated.getInt() < 0 || updated.getInt() >= function.getNumArguments())
      return function.emitError("result ") << index << " updates no argument";
    return refs.lookup(function.getArgument(updated.getInt()));
  }
  auto type = cast<NamedTensorType>(returned.get().getType());
  if (PersistentKey key = getCrossingKey(function, index)) {
    FailureOr<int64_t> number = persistent.get(key, type, function);
    return failed(number) ? FailureOr<AllocRefAttr>(failure()) : getPersistentRef(*number);
  }
  std::string name;
  if (auto output = function.getResultAttrOfType<StringAttr>(index, attr::kOutput))
    name = output.str();
  if (auto gradient = function.getResultAttrOfType<StringAttr>(index, attr::kGradient)) {
    if (BlockArgument sum = findReturnedSum(function, returned))
      return refs.lookup(sum);
    name = "grad." + gradient.str();
  }
  if (name.empty())
    return function.emitError("result ") << index << " has no role";
  int64_t end = liveness.getStart(returned.getOwner());
  return makeAllocation(name, type, end, end);
}

/// True if a result has its own allocation. A result that updates an argument is in the argument's
/// allocation even if it is also an output.
static bool isOutput(func::FuncOp function, unsigned index) {
  return function.getResultAttr(index, attr::kOutput) &&
         !function.getResultAttr(index, attr::kUpdates);
}

/// The number of an earlier output of the same value: the two outputs share one allocation.
static std::optional<unsigned> findEqualOutput(func::FuncOp function, OpOperand &returned) {
  unsigned index = returned.getOperandNumber();
  if (isOutput(function, index))
    for (unsigned i = 0; i < index; ++i)
      if (returned.getOwner()->getOperand(i) == returned.get() && isOutput(function, i))
        return i;
  return std::nullopt;
}

/// The result that updates an argument may overwrite the argument only after its last use.
LogicalResult Planner::preferResults() {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Attribute> results;
  for (OpOperand &operand : terminator->getOpOperands()) {
    if (std::optional<unsigned> same = findEqualOutput(function, operand)) {
      results.push_back(results[*same]);
      continue;
    }
    FailureOr<AllocRefAttr> ref = getResultRef(operand);
    if (failed(ref))
      return failure();
    results.push_back(*ref);
    prefer(operand.get(), *ref,
           function.getResultAttr(operand.getOperandNumber(), attr::kUpdates) != nullptr);
  }
  terminator->setAttr(kArgumentAllocs, ArrayAttr::get(context, results));
  return success();
}

/// The return copies results one after the other, as a yield does.
LogicalResult Planner::verifyReturn() {
  Operation *terminator = function.getBody().front().getTerminator();
  ArrayRef<Attribute> targets = terminator->getAttrOfType<ArrayAttr>(kArgumentAllocs).getValue();
  for (unsigned i = 0; i < targets.size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (refs.lookup(terminator->getOperand(i)) == targets[j] &&
          getRoot(terminator->getOperand(i)) != getRoot(terminator->getOperand(j)))
        return function.emitError("results ") << j << " and " << i << " exchange allocations";
  return success();
}
