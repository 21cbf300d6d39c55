#include "compiler/driver/Shrink.h"

#include "compiler/driver/Overrides.h"
#include "compiler/driver/Processes.h"
#include "compiler/driver/RunShape.h"

#include <algorithm>
#include <numeric>

namespace titan::driver {
namespace {

using sema::CheckedRun;

constexpr int64_t defaultProcesses = 16;
/// Sequences below eight positions have no room for windows, documents and blocks of ranks.
constexpr int64_t leastSequence = 8;
/// Rounds over all settings: a size may shrink further after the sizes that limit it.
constexpr int maxRounds = 3;

int64_t smallestPrimeFactor(int64_t number) {
  for (int64_t factor = 2; factor * factor <= number; ++factor)
    if (number % factor == 0)
      return factor;
  return number;
}

/// A setting that takes an integer.
struct Setting {
  std::string path;
  int64_t before, value, least;
  bool isArgument = false; ///< of the model; it may be something else than a size
};

std::string listText(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

class Shrinker {
public:
  Shrinker(const CommonOptions &options, const CheckedRun &run, int64_t processes)
      : options(options), run(run), processes(processes), whole(getRunShape(run)), shape(whole) {}

  ShrunkRun shrink() {
    addDegrees();
    shrinkDegrees();
    const size_t firstSize = settings.size();
    addSizes();
    for (int round = 0; round < maxRounds && shrinkSizes(firstSize); ++round) {
    }
    ShrunkRun result{makeOptions(), {}};
    for (const Change &change : changes())
      result.shrinkages.push_back({change.path, change.before, change.after});
    return result;
  }

private:
  struct Change {
    std::string path, before, after;
  };

  void addDegrees() {
    for (const sema::Axis &axis : run.mesh.declared)
      if (axis.degree > 1)
        settings.push_back(
            {"parallel." + axis.name, axis.degree, axis.degree, smallestPrimeFactor(axis.degree)});
  }

  int64_t ranks() const {
    int64_t all = chooseAutoDegree(run.mesh, 0);
    for (const Setting &degree : settings)
      if (__builtin_mul_overflow(all, degree.value, &all))
        return INT64_MAX;
    return all;
  }

  /// Divides the largest degree by its smallest prime factor, again and again.
  void shrinkDegrees() {
    const int64_t most = processes ? processes : defaultProcesses;
    std::vector<Setting *> divisible;
    for (Setting &degree : settings)
      divisible.push_back(&degree);
    while (ranks() > most && !divisible.empty()) {
      auto isSmaller = [](const Setting *a, const Setting *b) { return a->value < b->value; };
      auto largest = std::max_element(divisible.begin(), divisible.end(), isSmaller);
      Setting &degree = **largest;
      const int64_t next = degree.value / smallestPrimeFactor(degree.value);
      if (next == 1 || !tryValue(degree, next))
        divisible.erase(largest);
    }
  }

  int64_t integer(const std::string &path) const { return run.run[path].integer; }

  void add(const std::string &path, int64_t value, int64_t least, bool isArgument = false) {
    if (value > least)
      settings.push_back({path, value, value, least, isArgument});
  }

  void addSizes() {
    const int64_t microbatches = integer("accumulate");
    // Slots of microbatches are reused if there are more microbatches than stages in flight.
    const int64_t leastMicrobatches =
        run.mesh.pipeline ? 2 * getValue("parallel." + run.mesh.pipeline->axis, 2) : 2;
    if (integer("data.tokens") > 0)
      settings.push_back(
          {"data.tokens", microbatches, microbatches, std::min(microbatches, leastMicrobatches)});
    else
      add(run.mesh.pipeline ? "pipeline.microbatches" : "accumulate",
          run.mesh.pipeline ? integer("pipeline.microbatches") : microbatches, leastMicrobatches);
    for (const sema::Model::Argument &argument : run.train.arguments)
      if (argument.kind == "integer" && !(listsLayers() && argument.name == run.mesh.pipeline->dim))
        add("model." + argument.name, std::stoll(argument.value), 2, /*isArgument=*/true);
    add("data.seq", integer("data.seq"), leastSequence);
    add("data.batch", integer("data.batch"), 2);
  }

  bool shrinkSizes(size_t first) {
    bool isChanged = false;
    for (size_t i = first; i < settings.size(); ++i)
      isChanged |= shrinkAlone(settings[i]) || shrinkTogether(settings[i], first);
    return isChanged;
  }

  /// The values to try: small numbers in ascending order, then halves of the value.
  static std::vector<int64_t> candidates(const Setting &setting) {
    constexpr int64_t most = 16;
    std::vector<int64_t> all;
    for (int64_t value = setting.value; value % 2 == 0 && value / 2 > most; value /= 2)
      all.push_back(value / 2);
    std::reverse(all.begin(), all.end());
    std::vector<int64_t> small;
    for (int64_t value = setting.least; value < std::min(setting.value, most + 1); ++value)
      small.push_back(value);
    all.insert(all.begin(), small.begin(), small.end());
    return all;
  }

  bool shrinkAlone(Setting &setting) {
    for (int64_t value : candidates(setting)) {
      const std::vector<int64_t> before = shape.extents;
      const int64_t former = setting.value;
      if (!tryValue(setting, value))
        continue;
      if (!setting.isArgument || shape.extents != before)
        return true;
      setting.value = former; // not a size
      return false;
    }
    return false;
  }

  /// Divides two sizes, of which one is a factor of the other (`embed = heads * head`), by the same
  /// number.
  bool shrinkTogether(Setting &setting, size_t first) {
    if (!setting.isArgument)
      return false;
    for (int64_t value = setting.least; value <= setting.value / 2; ++value) {
      if (setting.value % value)
        continue;
      const int64_t factor = setting.value / value;
      for (size_t i = first; i < settings.size(); ++i) {
        Setting &other = settings[i];
        if (&other == &setting || !other.isArgument || other.value % factor ||
            other.value / factor < other.least)
          continue;
        const int64_t former = setting.value, otherFormer = other.value;
        const std::vector<int64_t> before = shape.extents;
        other.value /= factor;
        if (tryValue(setting, value) && shape.extents != before)
          return true;
        setting.value = former;
        other.value = otherFormer;
      }
    }
    return false;
  }

  /// Keeps the value if the run is correct and representative with it.
  bool tryValue(Setting &setting, int64_t value) {
    const int64_t former = std::exchange(setting.value, value);
    if (std::optional<RunShape> tried = check()) {
      shape = std::move(*tried);
      return true;
    }
    setting.value = former;
    return false;
  }

  /// The shape of the run with the present values; nothing unless it represents the whole run.
  std::optional<RunShape> check() const {
    CommonOptions trial = makeOptions();
    CompilerInstance instance(trial);
    std::optional<CheckedRun> checked = instance.checkRun();
    if (!checked)
      return std::nullopt;
    const int64_t degree = chooseAutoDegree(checked->mesh, processes);
    if (!autoDegree(instance, *checked, computeLeastProcesses(checked->mesh) * degree))
      return std::nullopt;
    RunShape tried = getRunShape(*checked);
    return represents(tried, whole) ? std::optional(tried) : std::nullopt;
  }

  int64_t getValue(const std::string &path, int64_t fallback) const {
    for (const Setting &setting : settings)
      if (setting.path == path)
        return setting.value;
    return fallback;
  }

  bool listsLayers() const { return run.mesh.pipeline && !run.mesh.pipeline->isByCost; }

  CommonOptions makeOptions() const {
    CommonOptions result = options;
    for (const Change &change : changes())
      setOverride(result, change.path, change.after);
    return result;
  }

  std::vector<Change> changes() const {
    std::vector<Change> all;
    for (const Setting &setting : settings)
      if (setting.path != "data.tokens" && setting.value != setting.before)
        all.push_back(
            {setting.path, std::to_string(setting.before), std::to_string(setting.value)});
    addTokens(all);
    if (listsLayers())
      addLayers(all);
    return all;
  }

  /// A step of `data.tokens` has as many samples as its microbatches.
  void addTokens(std::vector<Change> &all) const {
    const int64_t before = integer("data.tokens");
    const int64_t after = getValue("data.tokens", 0) *
                          getValue("data.batch", integer("data.batch")) *
                          getValue("data.seq", integer("data.seq"));
    if (after > 0 && after != before)
      all.push_back({"data.tokens", std::to_string(before), std::to_string(after)});
  }

  /// A stage whose layers the run states has one layer, or two if it has more than the smallest.
  /// A pipeline over several repeats keeps all layers: no single argument counts them.
  void addLayers(std::vector<Change> &all) const {
    const sema::Pipeline &pipeline = *run.mesh.pipeline;
    const std::vector<int64_t> &before = pipeline.layersPerStage;
    const int64_t sumBefore = std::accumulate(before.begin(), before.end(), int64_t(0));
    auto isLayers = [&](const sema::Model::Argument &one) {
      return one.name == pipeline.dim && one.value == std::to_string(sumBefore);
    };
    if (std::none_of(run.train.arguments.begin(), run.train.arguments.end(), isLayers))
      return;
    const int64_t stages =
        static_cast<int64_t>(before.size()) * getPipelineDegree() / getWholePipelineDegree();
    const int64_t least = *std::min_element(before.begin(), before.end());
    std::vector<int64_t> after;
    for (int64_t i = 0; i < stages; ++i)
      after.push_back(before[static_cast<size_t>(i)] > least ? 2 : 1);
    const int64_t sum = std::accumulate(after.begin(), after.end(), int64_t(0));
    if (sum >= sumBefore)
      return;
    all.push_back({"model." + pipeline.dim, std::to_string(sumBefore), std::to_string(sum)});
    all.push_back({"pipeline.layers_per_stage", listText(before), listText(after)});
    if (const sema::Value &cuts = run.run["pipeline.cuts"]; !cuts.elements.empty())
      all.push_back({"pipeline.cuts", cuts.print(), "[]"});
  }

  int64_t getWholePipelineDegree() const {
    for (const sema::Axis &axis : run.mesh.declared)
      if (axis.name == run.mesh.pipeline->axis)
        return axis.degree;
    return 1;
  }
  int64_t getPipelineDegree() const {
    return getValue("parallel." + run.mesh.pipeline->axis, getWholePipelineDegree());
  }

  const CommonOptions &options;
  const CheckedRun &run;
  const int64_t processes;
  const RunShape whole;
  RunShape shape;
  std::vector<Setting> settings;
};

} // namespace

int64_t chooseAutoDegree(const sema::Mesh &mesh, int64_t processes) {
  const bool hasAuto = std::any_of(mesh.axes.begin(), mesh.axes.end(),
                                   [](const sema::Axis &axis) { return axis.degree == 0; });
  if (!hasAuto)
    return 1;
  return processes ? std::max<int64_t>(1, processes / computeLeastProcesses(mesh)) : 2;
}

ShrunkRun shrink(const CommonOptions &options, const CheckedRun &run, int64_t processes) {
  return Shrinker(options, run, processes).shrink();
}

} // namespace titan::driver
