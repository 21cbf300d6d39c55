#include "compiler/sema/runs/Schedules.h"
#include "compiler/sema/elaboration/Elaborator.h"

#include <algorithm>

namespace titan::sema {

std::optional<ScheduleFunction> elaborateSchedule(const Run &run, const Library &library,
                                                  DiagnosticEngine &diags) {
  const Symbol &symbol = run.schedule.symbol;
  if (!symbol)
    return std::nullopt;
  const std::string section = "schedule.";
  ScheduleRequest request;
  for (const OptionSpec &spec : run.schedule.options)
    request[spec.path.substr(section.size())] = {run[spec.path], spec.choices};
  ScheduleFunction function;
  if (!elaborateSchedule(symbol, request, library, diags, function.model))
    return std::nullopt;
  const size_t formals = symbol.decl->as<syntax::ScheduleDecl>()->formals.size();
  const char *const arguments[scheduleArguments] = {"step", "steps"};
  for (size_t i = 0; i < function.model.inputs.size(); ++i)
    function.sources.push_back(i < formals ? arguments[i]
                                           : section + function.model.inputs[i].name);
  return function;
}

} // namespace titan::sema
