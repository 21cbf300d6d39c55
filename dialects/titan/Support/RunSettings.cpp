// The settings of a run.

#include "dialects/titan/Support/RunSettings.h"
#include "dialects/titan/IR/Titan.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace titan;

RunSettings::RunSettings(ModuleOp module)
    : run(module->getAttrOfType<DictionaryAttr>(ir::attr::kRun)) {}

template <typename AttrT> AttrT RunSettings::get(StringRef path) const {
  auto setting = run ? run.getAs<ir::SettingAttr>(path) : ir::SettingAttr();
  return setting ? dyn_cast<AttrT>(setting.getValue()) : AttrT();
}

std::string RunSettings::getString(StringRef path, StringRef fallback) const {
  auto value = get<StringAttr>(path);
  return (value ? value.getValue() : fallback).str();
}

int64_t RunSettings::getInteger(StringRef path, int64_t fallback) const {
  auto value = get<IntegerAttr>(path);
  return value ? value.getInt() : fallback;
}

std::vector<int64_t> RunSettings::getIntegers(StringRef path) const {
  std::vector<int64_t> values;
  if (auto list = get<ArrayAttr>(path))
    for (Attribute element : list)
      if (auto value = dyn_cast<IntegerAttr>(element))
        values.push_back(value.getInt());
  return values;
}

std::vector<std::string> RunSettings::getStrings(StringRef path) const {
  std::vector<std::string> values;
  if (auto list = get<ArrayAttr>(path))
    for (Attribute element : list)
      if (auto value = dyn_cast<StringAttr>(element))
        values.push_back(value.str());
  return values;
}

void RunSettings::setInteger(StringRef path, int64_t value, MLIRContext *context) {
  Builder builder(context);
  NamedAttrList settings(run ? run.getValue() : ArrayRef<NamedAttribute>());
  settings.set(path, ir::SettingAttr::get(builder.getI64IntegerAttr(value)));
  run = settings.getDictionary(context);
}
