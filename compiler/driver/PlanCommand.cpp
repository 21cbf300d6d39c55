// `titanc plan`: the degrees of a map and other settings with which a step takes least time on a
// machine, by prediction.
#include "base/Error.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/MachineSelection.h"
#include "compiler/driver/Notice.h"
#include "compiler/driver/Overrides.h"
#include "compiler/driver/PredictionText.h"
#include "compiler/driver/RunSummary.h"
#include "compiler/driver/TextTable.h"
#include "compiler/search/MapSearch.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

namespace titan::driver {
namespace {

using search::Outcome;
using search::Point;
using search::Result;

/// A setting that the search varies.
struct Choice {
  std::string path;
  std::vector<std::string> values; ///< neighbours are similar
  size_t initial = 0;              ///< the value in the file
};

/// What a report says about a point.
struct Plan {
  std::vector<std::pair<std::string, double>> components;
  double seconds = 0, tokensPerSecond = 0, mfu = 0;
  double bytes = 0, memory = 0; ///< that a rank needs, and may use
};

/// Predicts the steps of maps.
class Planner {
public:
  Planner(const CommonOptions &options, const PlanOptions &plan, const Machine &machine,
          const sema::CheckedRun &run)
      : options(options), plan(plan), machine(machine) {
    for (const sema::Axis &axis : run.mesh.declared) {
      axes.push_back(axis.name);
      degrees.push_back(std::max<int64_t>(1, axis.degree));
    }
    addChoices(run.run, run.mesh.layersAxis.empty() ? "accumulate" : "pipeline.microbatches");
  }

  std::vector<Result> search() {
    std::vector<size_t> numValues;
    for (const Choice &choice : choices)
      numValues.push_back(choice.values.size());
    std::vector<Point> starts = search::makeStarts(degrees, plan.devices, choices.size());
    for (Point &start : starts)
      for (size_t i = 0; i < choices.size(); ++i)
        start.values[i] = choices[i].initial;
    return search::findBest(starts, numValues, [&](const Point &point) { return evaluate(point); });
  }

  /// The settings of a point, as arguments of `--set`.
  std::vector<std::string> listSettings(const Point &point) const {
    std::vector<std::string> settings;
    for (auto [axis, degree] : llvm::zip_equal(axes, point.degrees))
      settings.push_back("parallel." + axis + "=" + std::to_string(degree));
    for (auto [choice, value] : llvm::zip_equal(choices, point.values))
      settings.push_back(choice.path + "=" + choice.values[value]);
    return settings;
  }

  const Plan &getPlan(const Point &point) const { return plans.at(point); }

private:
  void addChoices(const sema::Run &run, const std::string &pathOfMicrobatches) {
    choices.push_back(
        {"recompute", {"none", "full"}, run["recompute"].print() == "full" ? 1U : 0U});
    Choice microbatches{pathOfMicrobatches, {}};
    constexpr int64_t some = 8; // if the file leaves the microbatches of stages to the compiler
    const int64_t given = run[microbatches.path].integer, wanted = given ? given : some;
    for (int64_t number = 1; number <= run["data.batch"].integer; number *= 2) {
      if (number <= wanted)
        microbatches.initial = microbatches.values.size();
      microbatches.values.push_back(std::to_string(number));
    }
    choices.push_back(std::move(microbatches));
  }

  Outcome evaluate(const Point &point) {
    Notice notice("trying " + llvm::join(listSettings(point), " ") + " ...");
    CommonOptions trial = options;
    for (const std::string &setting : listSettings(point)) {
      auto [path, value] = llvm::StringRef(setting).split('=');
      setOverride(trial, path.str(), value.str());
    }
    CompilerInstance instance(trial);
    const auto target = machine.device.isCuda ? emission::Target::Cuda : emission::Target::Cpu;
    std::optional<sema::CheckedRun> run = instance.checkRun();
    std::optional<RunSummary> summary;
    if (run)
      summary = makeRunSummary(instance, *run, plan.devices, /*threads=*/0, target);
    if (!summary)
      return {getFirstError(instance), 0, 0};
    return predict(point, *summary);
  }

  Outcome predict(const Point &point, const RunSummary &summary) {
    try {
      const StepTime time = predictStep(summary.step, machine);
      const auto bytes = static_cast<double>(summary.memory.getOnDevice());
      const double memory = plan.memory > 0 ? plan.memory * static_cast<double>(int64_t{1} << 30)
                                            : getMemoryOfRank(summary.step, machine);
      plans[point] = {listComponents(time),
                      time.seconds,
                      time.getTokensPerSecond(summary.step),
                      getUtilisation(summary.step, time.seconds, machine).model,
                      bytes,
                      memory};
      return {"", time.seconds, bytes / memory};
    } catch (const UserError &error) {
      return {error.what(), 0, 0};
    }
  }

  static std::string getFirstError(const CompilerInstance &instance) {
    for (const Diagnostic &diagnostic : instance.diags.all())
      if (diagnostic.severity == Severity::Error)
        return diagnostic.message;
    return "the program is refused";
  }

  const CommonOptions &options;
  const PlanOptions &plan;
  const Machine &machine;
  std::vector<std::string> axes;
  std::vector<int64_t> degrees;
  std::vector<Choice> choices;
  std::map<Point, Plan> plans;
};

/// Why a plan is slower than the best one: the component that takes most longer.
std::string explainLoss(const Plan &plan, const Plan &best) {
  if (plan.bytes > plan.memory)
    return "needs " + printPercent(plan.bytes / plan.memory) + " of the memory";
  std::map<std::string, double> before(best.components.begin(), best.components.end());
  std::string most;
  double largest = 0;
  for (const auto &[what, seconds] : plan.components)
    if (const double more = seconds - before[what]; more > largest) {
      largest = more;
      most = what + " +" + printSeconds(more);
    }
  return most;
}

void print(llvm::raw_ostream &out, const Planner &planner, const std::vector<Result> &results) {
  constexpr size_t maxPrinted = 10;
  using Side = TextTable::Side;
  TextTable table({Side::Right, Side::Right, Side::Right, Side::Right, Side::Left, Side::Left});
  table.add({"step", "tokens/s", "MFU", "memory", "settings", "slower by"});
  const Plan &best = planner.getPlan(results.front().point);
  for (const Result &result : llvm::ArrayRef(results).take_front(maxPrinted)) {
    if (!result.outcome.refusal.empty())
      break;
    const Plan &plan = planner.getPlan(result.point);
    table.add({printSeconds(plan.seconds), groupDigits(std::llround(plan.tokensPerSecond)),
               printPercent(plan.mfu), printGiB(plan.bytes),
               llvm::join(planner.listSettings(result.point), " "), explainLoss(plan, best)});
  }
  table.print(out);
}

llvm::json::Array toJson(const Planner &planner, const std::vector<Result> &results) {
  llvm::json::Array out;
  for (const Result &result : results) {
    llvm::json::Object entry{{"settings", llvm::json::Array(planner.listSettings(result.point))}};
    if (!result.outcome.refusal.empty()) {
      entry["refused"] = result.outcome.refusal;
    } else {
      const Plan &plan = planner.getPlan(result.point);
      entry["step_seconds"] = plan.seconds;
      entry["tokens_per_second"] = plan.tokensPerSecond;
      entry["mfu"] = plan.mfu;
      entry["bytes"] = plan.bytes;
      entry["fits"] = result.outcome.memory <= 1;
    }
    out.push_back(std::move(entry));
  }
  return out;
}

/// Reports that no point is a program, with the reason of the first one.
int reportRefusal(CompilerInstance &instance, const std::vector<Result> &results) {
  instance.diags.report(
      Code::NoPlan, Location(),
      "no map of these devices is possible: " +
          (results.empty() ? std::string("the map has no axis") : results.front().outcome.refusal));
  return instance.finish(1);
}

} // namespace

int planCommand(const CommonOptions &options, const PlanOptions &plan) {
  CompilerInstance instance(options);
  std::optional<sema::CheckedRun> run = instance.checkRun();
  std::optional<Machine> machine;
  if (run)
    machine = loadMachine(instance, plan.machine);
  if (!machine)
    return instance.finish(1);
  Planner planner(options, plan, *machine, *run);
  const std::vector<Result> results = planner.search();
  if (results.empty() || !results.front().outcome.refusal.empty())
    return reportRefusal(instance, results);
  if (options.json) {
    llvm::outs() << llvm::json::Value(toJson(planner, results)) << '\n';
    return instance.finish();
  }
  const auto numRefused =
      llvm::count_if(results, [](const Result &result) { return !result.outcome.refusal.empty(); });
  llvm::outs() << plan.devices << " devices of " << machine->name << ", "
               << printGiB(planner.getPlan(results.front().point).memory) << " each; "
               << results.size() << " combinations tried, " << numRefused << " of them refused\n";
  print(llvm::outs(), planner, results);
  return instance.finish();
}

} // namespace titan::driver
