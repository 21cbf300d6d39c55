// Arguments and results of program functions.

#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan::ir;

bool titan::ir::isTrainProgram(func::FuncOp function) {
  auto program = function->getAttrOfType<StringAttr>(attr::kProgram);
  return program && (program.getValue() == "train" || function->hasAttr(attr::kTurn)) &&
         !function.isExternal();
}

SmallVector<func::FuncOp> titan::ir::getTrainPrograms(ModuleOp module) {
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (isTrainProgram(function))
      programs.push_back(function);
  return programs;
}

std::string titan::ir::getRateScalar(FlatSymbolRefAttr schedule) {
  return schedule ? ("lr." + schedule.getValue()).str() : "lr";
}

int64_t titan::ir::countPositions(func::FuncOp function) {
  auto dims = DataDimsAttr::lookup(function);
  if (!dims || !dims.getPositions())
    return 0;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = cast<NamedTensorType>(function.getArgumentTypes()[i]);
    if (function.getArgAttr(i, attr::kInput) && type.hasDim(dims.getPositions()))
      return type.getDims()[type.findDimIndex(dims.getPositions())].getSize();
  }
  return 0;
}

bool titan::ir::isGenerationScalar(StringRef name) {
  return name == kPositionScalar || name == kSlotPositionsScalar || name == kSlotScalar;
}

bool titan::ir::isOfSlots(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, attr::kScalar);
  return (name && name == kSlotScalar) ||
         getTensorType(function.getArgument(argument))
             .hasDim(StringAttr::get(function.getContext(), kSlotDim));
}

bool titan::ir::isTrained(func::FuncOp function, unsigned index) {
  return function.getArgAttr(index, attr::kParam) && !function.getArgAttr(index, attr::kFrozen) &&
         !function.getArgAttr(index, attr::kBuffer);
}

std::string titan::ir::getLossOutput(StringRef name) {
  return ("loss." + name).str();
}

bool titan::ir::isLossOutput(StringRef output) {
  return output == "loss" || output.starts_with(getLossOutput(""));
}

std::string titan::ir::getMetricOutput(StringRef name) {
  return ("metric." + name).str();
}

bool titan::ir::isMetricOutput(StringRef output) {
  return output.starts_with(getMetricOutput(""));
}

static bool hasName(Attribute attribute, StringRef name) {
  auto string = dyn_cast_or_null<StringAttr>(attribute);
  return string && string.getValue() == name;
}

std::optional<unsigned> titan::ir::findArgument(func::FuncOp function, StringRef key,
                                                StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (hasName(function.getArgAttr(i, key), name))
      return i;
  return std::nullopt;
}

std::optional<unsigned> titan::ir::findResult(func::FuncOp function, StringRef key,
                                              StringRef name) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (hasName(function.getResultAttr(i, key), name))
      return i;
  return std::nullopt;
}

std::optional<unsigned> titan::ir::findGradient(func::FuncOp function, unsigned index) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttr(i, attr::kGradient) &&
        function.getResultAttr(i, attr::kGradient) == function.getArgAttr(index, attr::kParam) &&
        function.getResultAttr(i, attr::kStage) == function.getArgAttr(index, attr::kStage))
      return i;
  return std::nullopt;
}

SmallVector<NamedAttribute> titan::ir::getSlotAttributes(func::FuncOp function, unsigned index) {
  SmallVector<NamedAttribute> attributes;
  for (StringRef name : {attr::kStacked, attr::kStage})
    if (Attribute value = function.getArgAttr(index, name))
      attributes.emplace_back(StringAttr::get(function.getContext(), name), value);
  return attributes;
}

void titan::ir::appendResults(func::FuncOp function, ArrayRef<ReturnedValue> returned) {
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (const ReturnedValue &one : returned) {
    values.push_back(one.value);
    types.push_back(one.value.getType());
    attributes.push_back(DictionaryAttr::get(function.getContext(), one.attributes));
  }
  const unsigned end = function.getNumResults();
  function.insertResults(SmallVector<unsigned>(values.size(), end), types, attributes);
  function.getBody().front().getTerminator()->insertOperands(end, values);
}

void titan::ir::appendResult(func::FuncOp function, Value value,
                             ArrayRef<NamedAttribute> attributes) {
  appendResults(function, ReturnedValue{value, llvm::to_vector(attributes)});
}

LogicalResult titan::ir::verifyUpdates(func::FuncOp function, StringRef constraint,
                                       llvm::function_ref<bool(unsigned)> isUpdated) {
  auto complain = [&] { return function.emitOpError("(") << constraint << ") "; };
  SmallVector<unsigned> updates(function.getNumArguments());
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    auto target = function.getResultAttrOfType<IntegerAttr>(r, attr::kUpdates);
    if (!target)
      continue;
    uint64_t index = target.getValue().getZExtValue();
    if (index >= updates.size())
      return complain() << "result " << r << " updates argument " << index
                        << ", which does not exist";
    ++updates[index];
    if (function.getResultTypes()[r] != function.getArgument(index).getType())
      return complain() << "result " << r << " of type " << function.getResultTypes()[r]
                        << " updates argument " << index << " of type "
                        << function.getArgument(index).getType();
  }
  for (auto [i, count] : llvm::enumerate(updates))
    if (unsigned expected = isUpdated(i); count != expected)
      return complain() << "updates argument " << i << " " << count << " times, expected "
                        << expected;
  return success();
}
