//===- PlanArguments.cpp - Arguments and results lie in persistent buffers -===//

#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

LogicalResult Planner::placeArguments() {
  auto program = function->getAttrOfType<StringAttr>(attr::kProgram);
  SmallVector<Attribute> arguments;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    StringAttr name, owner;
    if ((name = function.getArgAttrOfType<StringAttr>(i, attr::kInput)))
      owner = program;
    for (StringRef role : {attr::kParam, attr::kState, attr::kScalar})
      if (!name)
        name = function.getArgAttrOfType<StringAttr>(i, role);
    if (!name)
      return function.emitError("argument ") << i << " has no role";
    FailureOr<int64_t> index =
        persistent.get(name, owner, cast<NamedTensorType>(argument.getType()), function);
    if (failed(index))
      return failure();
    put(argument, getPersistentPlace(*index));
    arguments.push_back(getPersistentPlace(*index));
  }
  function->setAttr(kArguments, ArrayAttr::get(context, arguments));
  return success();
}

FailureOr<PlaceAttr> Planner::getResultPlace(unsigned index, NamedTensorType type) {
  if (auto updated = function.getResultAttrOfType<IntegerAttr>(index, attr::kUpdates)) {
    if (updated.getInt() < 0 || updated.getInt() >= function.getNumArguments())
      return function.emitError("result ") << index << " updates no argument";
    return places.lookup(function.getArgument(updated.getInt()));
  }
  auto name = function.getResultAttrOfType<StringAttr>(index, attr::kOutput);
  if (auto gradient = function.getResultAttrOfType<StringAttr>(index, attr::kGradient))
    name = StringAttr::get(context, "grad." + gradient.getValue());
  if (!name)
    return function.emitError("result ") << index << " has no role";
  FailureOr<int64_t> buffer =
      persistent.get(name, function->getAttrOfType<StringAttr>(attr::kProgram), type, function);
  if (failed(buffer))
    return failure();
  return getPersistentPlace(*buffer);
}

/// An updated argument may be overwritten only after its last use; outputs lie in memory of their
/// own.
LogicalResult Planner::wishResults() {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Attribute> results;
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    auto place = getResultPlace(i, cast<NamedTensorType>(operand.get().getType()));
    if (failed(place))
      return failure();
    results.push_back(*place);
    wish(operand.get(), *place, function.getResultAttr(i, attr::kUpdates) != nullptr);
  }
  terminator->setAttr(kArguments, ArrayAttr::get(context, results));
  return success();
}
