// The learning rate of a step.

#include "compiler/interpreter/LearningRate.h"

#include "dialects/titan/IR/Titan.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

static SettingAttr findSetting(ModuleOp module, StringRef path) {
  auto run = module->getAttrOfType<DictionaryAttr>(attr::kRun);
  return run ? run.getAs<SettingAttr>(path) : SettingAttr();
}

/// The number of a setting; for a word its index among the choices.
static std::optional<double> getNumber(SettingAttr setting) {
  if (!setting)
    return std::nullopt;
  Attribute value = setting.getValue();
  if (auto number = dyn_cast_or_null<IntegerAttr>(value))
    return static_cast<double>(number.getInt());
  if (auto number = dyn_cast_or_null<FloatAttr>(value))
    return number.getValueAsDouble();
  ArrayAttr choices = setting.getChoices();
  if (!choices)
    return std::nullopt;
  return static_cast<double>(llvm::find(choices, value) - choices.begin());
}

/// The schedule of this name; without a name, the first one.
static ScalarFunctionOp findSchedule(ModuleOp module, StringRef name) {
  for (auto function : module.getOps<ScalarFunctionOp>())
    if (function->hasAttr(attr::kSchedule) && (name.empty() || function.getSymName() == name))
      return function;
  return {};
}

static FailureOr<double> evaluate(ModuleOp module, ScalarFunctionOp schedule, int64_t step) {
  llvm::DenseMap<Value, double> values;
  auto sources = schedule->getAttrOfType<ArrayAttr>(attr::kSchedule).getAsRange<StringAttr>();
  for (auto [source, argument] : llvm::zip(sources, schedule.getBody().getArguments())) {
    std::optional<double> number = source.getValue() == "step"
                                       ? static_cast<double>(step)
                                       : getNumber(findSetting(module, source.getValue()));
    if (!number)
      return schedule.emitOpError("reads the setting ") << source << ", which the run lacks";
    values[argument] = *number;
  }
  for (Operation *op : schedule.getSteps()) {
    SmallVector<double> in =
        llvm::map_to_vector(op->getOperands(), [&](Value value) { return values.lookup(value); });
    cast<ScalarOpInterface>(op).evaluateElement(in, values[op->getResult(0)]);
  }
  return values.lookup(schedule.getYield().getValues().front());
}

FailureOr<double> interpreter::getLearningRate(ModuleOp module, int64_t step, StringRef name) {
  const double peak = getNumber(findSetting(module, "optimizer.lr")).value_or(1e-3);
  ScalarFunctionOp schedule = findSchedule(module, name);
  if (!schedule && !name.empty())
    return module.emitError("the module has no schedule @") << name;
  if (!schedule)
    return peak;
  FailureOr<double> factor = evaluate(module, schedule, step);
  if (failed(factor))
    return failure();
  return peak * *factor;
}
