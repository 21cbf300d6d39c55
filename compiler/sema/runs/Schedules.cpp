#include "compiler/sema/runs/Schedules.h"
#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

namespace {

const std::string scheduleSection = "schedule.";

std::optional<ScheduleFunction> elaborate(const Symbol &symbol, const ScheduleRequest &request,
                                          const Library &library, DiagnosticEngine &diags) {
  ScheduleFunction function;
  if (!elaborateSchedule(symbol, request, library, diags, function.model))
    return std::nullopt;
  const size_t formals = symbol.decl->as<syntax::ScheduleDecl>()->formals.size();
  const char *const arguments[scheduleArguments] = {"step", "steps"};
  for (size_t i = 0; i < function.model.inputs.size(); ++i)
    function.sources.push_back(i < formals ? arguments[i]
                                           : scheduleSection + function.model.inputs[i].name);
  return function;
}

/// The schedule of the last group with one that matches the parameter; null: the run's.
const GroupSchedule *findGroupSchedule(const Run &run, const Parameter &parameter) {
  const GroupSchedule *last = nullptr;
  for (const Group &group : run.groups)
    if (group.schedule && matchesGlob(group.pattern, parameter.name))
      last = &*group.schedule;
  return last;
}

} // namespace

std::optional<ScheduleFunction> elaborateSchedule(const Run &run, const Library &library,
                                                  DiagnosticEngine &diags) {
  const Symbol &symbol = run.schedule.symbol;
  if (!symbol)
    return std::nullopt;
  ScheduleRequest request;
  for (const OptionSpec &spec : run.schedule.options)
    request[spec.path.substr(scheduleSection.size())] = {run[spec.path], spec.choices};
  return elaborate(symbol, request, library, diags);
}

GroupSchedules elaborateGroupSchedules(const Run &run, const Model &model, const Library &library,
                                       DiagnosticEngine &diags) {
  GroupSchedules schedules;
  schedules.functionOf.resize(model.parameters.size());
  std::vector<std::pair<const syntax::Decl *, ScheduleRequest>> keys; // of the functions, in order
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    const Parameter &parameter = model.parameters[i];
    const GroupSchedule *schedule = findGroupSchedule(run, parameter);
    if (!schedule || parameter.frozen || parameter.isBuffer)
      continue;
    std::pair key{schedule->symbol.decl, ScheduleRequest()};
    for (const OptionSpec &spec : schedule->options)
      key.second[spec.path] = {schedule->values.at(spec.path), spec.choices, /*isFixed=*/true};
    auto known = std::find(keys.begin(), keys.end(), key);
    schedules.functionOf[i] = static_cast<size_t>(known - keys.begin());
    if (known != keys.end())
      continue;
    std::optional<ScheduleFunction> function =
        elaborate(schedule->symbol, key.second, library, diags);
    if (!function)
      return schedules;
    schedules.functions.push_back(std::move(*function));
    keys.push_back(std::move(key));
  }
  return schedules;
}

} // namespace titan::sema
