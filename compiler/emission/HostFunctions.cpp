// Emits functions that the host evaluates.

#include "compiler/emission/HostFunctions.h"

#include "compiler/emission/ScalarSteps.h"
#include "dialects/titan/Support/Programs.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

HostFunctions::HostFunctions(ModuleOp module, NameScope &scope, Writer &out) {
  auto emitOne = [&](ScalarFunctionOp function, StringRef name, const std::string &comment) {
    Function host{function, scope.pick(name)};
    out.line("/// " + comment);
    emitHostFunction(function, host.name, out);
    return host;
  };
  for (auto function : module.getOps<ScalarFunctionOp>()) {
    if (function->hasAttr(attr::kSchedule))
      schedules.push_back(emitOne(
          function, "schedule", "The factor of the learning rate. Runs on the host, once a step."));
    if (auto output = function->getAttrOfType<StringAttr>(attr::kEvaluates))
      evaluated.push_back(emitOne(function, "evaluation",
                                  "`" + output.str() +
                                      "` of an evaluation. Runs on the host, once an evaluation."));
  }
}

void HostFunctions::emitRows(Writer &out) const {
  emitSchedules(out);
  emitEvaluated(out);
}

static std::string getSources(ScalarFunctionOp function, StringRef attribute) {
  std::string sources;
  for (auto source : function->getAttrOfType<ArrayAttr>(attribute).getAsRange<StringAttr>())
    sources += (sources.empty() ? "" : ", ") + quote(source.getValue());
  return "{" + sources + "}";
}

void HostFunctions::emitSchedules(Writer &out) const {
  for (auto [function, name] : schedules) {
    const std::string schedule = "{" + getSources(function, attr::kSchedule) + ", " + name + "}";
    if (function == schedules.front().function)
      out.line("p.schedule = " + schedule + ";");
    else
      out.line("p.groupSchedules.push_back({" +
               quote(getRateScalar(FlatSymbolRefAttr::get(function))) + ", " + schedule + "});");
  }
}

void HostFunctions::emitEvaluated(Writer &out) const {
  if (evaluated.empty())
    return;
  out.open("p.evaluated =");
  for (auto [function, name] : evaluated)
    out.line("{" + quote(function->getAttrOfType<StringAttr>(attr::kEvaluates)) + ", " +
             getSources(function, attr::kBatchValues) + ", " + name + "},");
  out.close(";");
}
