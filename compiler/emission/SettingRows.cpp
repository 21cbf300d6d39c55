// Emits the settings of the program and the rules by which it checks them at launch.

#include "compiler/emission/ProgramTable.h"
#include "dialects/titan/Kernels/ScalarText.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

/// A setting in command-line syntax.
static std::string getText(Attribute value) {
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  if (auto boolean = dyn_cast<BoolAttr>(value))
    return boolean.getValue() ? "true" : "false";
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return std::to_string(integer.getInt());
  if (auto number = dyn_cast<FloatAttr>(value))
    return ir::getLiteral(number.getValueAsDouble());
  std::string list;
  if (auto elements = dyn_cast<ArrayAttr>(value))
    for (Attribute element : elements)
      list += (list.empty() ? "" : ", ") + getText(element);
  return "[" + list + "]";
}

/// `allowNumbersFrom(0.0)`: the rule for the type of a setting.
static std::string getTypeRule(SettingAttr setting) {
  auto text = [](FloatAttr number) { return ir::getLiteral(number.getValueAsDouble()); };
  StringRef takes = setting.getTakes().getValue();
  if (takes == "integer")
    return "allowIntegersFrom(" + text(setting.getLeast()) + ")";
  if (takes == "number" && setting.getMost())
    return "allowNumbersWithin(" + text(setting.getLeast()) + ", " + text(setting.getMost()) + ")";
  if (takes == "number")
    return "allowNumbersFrom(" + text(setting.getLeast()) + ")";
  if (takes == "text")
    return "allowText()";
  std::string choices;
  for (auto choice : setting.getChoices().getAsRange<StringAttr>())
    choices += (choices.empty() ? "" : ", ") + quote(choice.getValue());
  return "allowWords({" + choices + "})";
}

/// The rule by which the program checks a setting at launch.
static std::string getRule(SettingAttr setting) {
  if (setting.isCompiledIn())
    return "";
  const std::string rule = getTypeRule(setting);
  ArrayAttr idle = setting.getIdle();
  if (!idle)
    return ", " + rule;
  auto word = [&](unsigned i) { return quote(cast<StringAttr>(idle[i]).getValue()); };
  return ", idle(" + word(0) + ", " + word(1) + ", " + rule + ")";
}

void ProgramTable::emitSettings() {
  auto run = module->getAttrOfType<DictionaryAttr>(attr::kRun);
  if (!run)
    return;
  out.open("p.settings =");
  for (NamedAttribute entry : run) {
    auto setting = cast<SettingAttr>(entry.getValue());
    out.line("{" + quote(entry.getName()) + ", " + quote(getText(setting.getValue())) + ", " +
             (setting.isCompiledIn() ? "true" : "false") + getRule(setting) + "},");
  }
  out.close(";");
}
