#include "compiler/sema/mesh/Pipeline.h"

#include "base/schedule/Generators.h"
#include "base/text/Counted.h"
#include "compiler/sema/mesh/PipelineTable.h"
#include "compiler/sema/mesh/StageLayers.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {
namespace {

class PipelineResolver {
public:
  PipelineResolver(Run &run, Mesh &mesh, const Model &model, SourceManager &sources,
                   DiagnosticEngine &diags)
      : run(run), mesh(mesh), model(model), sources(sources), diags(diags) {}

  void resolve() {
    Axis *axis = findAxis();
    if (!axis)
      return reportOptionsWithoutEffect();
    const std::string dim = axis->splits.empty() ? "" : axis->splits[0];
    if (axis->degree == 0)
      diags.report(Code::AutoDegree, axis->degreeLoc,
                   "the degree of `" + axis->name +
                       "` must be known: its ranks execute different layers");
    else if (splitsOnlyLayers(*axis))
      resolveStages(*axis, dim);
    mesh.layersAxis = axis->name;
    clearSplits(*axis);
  }

private:
  /// Whether a repeat over the dimension is in no other repeat and has parameters.
  bool isOutermost(const std::string &dim) const {
    return std::any_of(model.parameters.begin(), model.parameters.end(), [&](const Parameter &one) {
      return !one.repeats.empty() && model.dims[one.repeats[0]].name == dim;
    });
  }

  /// The first axis with the dimension of an outermost repeat. Reports a second one, and numbers of
  /// stages of other axes.
  Axis *findAxis() {
    Axis *found = nullptr;
    for (Axis &axis : mesh.axes) {
      auto isLayers = [&](const std::string &name) { return isOutermost(name); };
      bool isPipeline = std::any_of(axis.splits.begin(), axis.splits.end(), isLayers) ||
                        std::any_of(axis.fallback.begin(), axis.fallback.end(), isLayers);
      if (isPipeline && found) {
        diags.report(Code::PipelineAxis, axis.loc, "only one axis of a map can split layers")
            .note(found->loc, "the other axis is here");
        clearSplits(axis);
      } else if (isPipeline)
        found = &axis;
      else if (axis.stagesLoc.isValid())
        diags
            .report(Code::PipelineAxis, axis.stagesLoc,
                    "axis `" + axis.name + "` has no stages: it splits no layers")
            .help("an axis has stages if it splits the dimension of a `repeat`" + outermostNames());
    }
    return found;
  }

  std::string outermostNames() const {
    std::vector<std::string> names;
    for (const Parameter &one : model.parameters)
      if (!one.repeats.empty()) {
        const std::string &name = model.dims[one.repeats[0]].name;
        if (std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(name);
      }
    return names.empty() ? "" : ": " + listNames(names);
  }

  bool isSet(const Option &option) const { return option.loc.isValid() && !option.value.isError(); }

  void reportOptionsWithoutEffect() {
    for (const OptionSpec &spec : optionTable()) {
      const Option &option = run.options.at(spec.path);
      if (spec.path.rfind("pipeline.", 0) != 0 || !isSet(option) ||
          option.value.print() == spec.initial.print())
        continue;
      diags
          .report(Code::OptionWithoutEffect, option.loc,
                  "`" + spec.path + "` has no effect: no axis of the map splits layers")
          .help("an axis splits layers if its `splits` has the dimension of a `repeat`" +
                outermostNames());
    }
  }

  /// The iterations of all outermost repeats over a dimension.
  int64_t countLayers(const std::string &dim) const {
    int64_t layers = 0;
    for (const Op &op : model.body.ops)
      if (op.kind == OpKind::Repeat && model.dims[op.dims[0]].name == dim)
        layers += model.dims[op.dims[0]].size;
    return layers;
  }

  static void clearSplits(Axis &axis) {
    axis.splits.clear();
    axis.fallback.clear();
    axis.splitLocs.clear();
  }

  /// Whether the axis splits one dimension of layers and nothing else. Reports if not.
  bool splitsOnlyLayers(const Axis &axis) {
    auto complain = [&](Location at, const std::string &what) {
      diags
          .report(Code::PipelineAxis, at,
                  "axis `" + axis.name + "` " + what + ", but its ranks execute different layers")
          .help("an axis that splits layers cannot have other functions; declare another axis");
      return false;
    };
    for (size_t i = 0; i < axis.splits.size(); ++i)
      if (!isOutermost(axis.splits[i]))
        return complain(axis.splitLocs[i], "splits `" + axis.splits[i] + "`");
    if (axis.splits.size() > 1)
      return complainOfSecondRepeat(axis);
    if (!axis.fallback.empty())
      return complain(axis.splitLocs[axis.splits.size()], "splits `" + axis.fallback[0] + "`");
    if (!axis.stores.empty())
      return complain(axis.loc, "stores state");
    if (!axis.pads.empty())
      return complain(axis.padLocs[0], "pads `" + axis.pads[0] + "`");
    if (axis.isHeadTail)
      return complain(axis.orderLoc, "has head-tail order");
    if (axis.attentionLoc.isValid())
      return complain(axis.attentionLoc, "has an attention method");
    for (const MeshOverride &entry : mesh.overrides)
      if (entry.axis == axis.name)
        return complain(entry.loc, "splits or stores tensors here");
    return true;
  }

  /// Repeats over dimensions of different names are no one sequence of layers.
  bool complainOfSecondRepeat(const Axis &axis) {
    diags
        .report(Code::PipelineAxis, axis.splitLocs[1],
                "axis `" + axis.name + "` splits the layers of `" + axis.splits[0] + "` and of `" +
                    axis.splits[1] + "`, but the repeats of a pipeline are over one name")
        .help("write the second repeat in a block with an argument `" + axis.splits[0] +
              "`: `block Second(x, " + axis.splits[0] + ")`, called with `" + axis.splits[1] +
              "`; repeats over one name are one sequence of layers, of any lengths");
    return false;
  }

  void resolveStages(const Axis &axis, const std::string &dim) {
    std::optional<schedule::Schedule> table;
    if (namesTable(run) && !(table = readTable(run, axis, sources, diags)))
      return;
    const int64_t layers = countLayers(dim),
                  stages = table ? table->stages : axis.degree * axis.stages;
    if (stages > layers) {
      Diagnostic &diag =
          diags.report(Code::PipelineStages, axis.stages > 1 ? axis.stagesLoc : axis.degreeLoc,
                       counted(stages, "stage") + " cannot share the " + counted(layers, "layer") +
                           " of `" + dim + "`");
      diag.help("a stage has at least one layer; the degree" +
                std::string(axis.stages > 1 ? ", times `stages`," : "") + " is at most " +
                std::to_string(layers));
      return;
    }
    std::optional<std::vector<int64_t>> perStage = resolveLayers(run, model, dim, stages, diags);
    resolveMicrobatches(axis, table ? table->microbatches : stages);
    if (!perStage || (table && !checkMicrobatches(*table)) || stages == 1)
      return;
    if (std::string schedule = table ? writeSource(*table) : nameSchedule(axis); !schedule.empty())
      mesh.pipeline = Pipeline{
          axis.name, dim, *perStage, !statesLayers(run), schedule, run["accumulate"].integer,
          axis.loc};
  }

  /// The algorithm of the schedule; empty after a report.
  std::string nameSchedule(const Axis &axis) {
    std::string name = run["pipeline.schedule"].text;
    if (name == "auto")
      name = axis.stages > 1 ? "interleaved_1f1b" : "1f1b";
    return isDefined(name, axis) ? name : "";
  }

  /// Whether a step has the microbatches of the table. Reports if not.
  bool checkMicrobatches(const schedule::Schedule &table) {
    const int64_t count = run["accumulate"].integer;
    if (count == table.microbatches || diags.hasErrors())
      return count == table.microbatches;
    const Option &given = run.options.at("pipeline.microbatches"),
                 &tokens = run.options.at("data.tokens");
    diags
        .report(Code::PipelineStages, isSet(given) ? given.loc : tokens.loc,
                "a step has " + counted(count, "microbatch", "es") + ", but its schedule has " +
                    std::to_string(table.microbatches))
        .note(run.options.at("pipeline.schedule").loc, "the schedule is named here");
    return false;
  }

  /// Whether the schedule exists for these stages and microbatches. Reports if not.
  bool isDefined(const std::string &name, const Axis &axis) {
    try {
      generate(*schedule::findAlgorithm(name),
               {static_cast<int>(axis.degree), static_cast<int>(axis.stages),
                static_cast<int>(run["accumulate"].integer)});
      return true;
    } catch (const schedule::ScheduleError &error) {
      const Option &option = run.options.at("pipeline.schedule");
      diags.report(Code::PipelineStages, isSet(option) ? option.loc : axis.loc, error.what())
          .help(error.remedy);
      return false;
    }
  }

  /// Sets `accumulate`, from which all later phases read the number of microbatches. `fallback` is
  /// the number if the run states none.
  void resolveMicrobatches(const Axis &axis, int64_t fallback) {
    const Option &given = run.options.at("pipeline.microbatches"),
                 &tokens = run.options.at("data.tokens"), &batch = run.options.at("data.batch");
    Option &accumulate = run.options.at("accumulate");
    if (given.value.isError() || accumulate.value.isError() || !batch.value.isInt())
      return;
    if (isSet(accumulate) && accumulate.value.integer != 1) {
      diags
          .report(Code::OptionWithoutEffect, accumulate.loc,
                  "`accumulate` cannot be combined with a pipeline, whose schedule has its own "
                  "microbatches")
          .note(axis.loc, "this axis splits layers")
          .help("write `pipeline { microbatches = " + accumulate.value.print() + " }`");
      return;
    }
    if (tokens.value.isInt() && tokens.value.integer != 0) {
      if (given.value.integer != 0)
        diags
            .report(Code::OptionWithoutEffect, given.loc,
                    "`pipeline.microbatches` cannot be combined with `data.tokens`, which "
                    "determines it")
            .note(tokens.loc, "the size of a step is set here");
      return;
    }
    const int64_t count = given.value.integer ? given.value.integer : fallback;
    if (batch.value.integer % count == 0) {
      accumulate.value = Value::ofInt(count);
      return;
    }
    const Location implied = namesTable(run) ? run.options.at("pipeline.schedule").loc : axis.loc;
    diags
        .report(Code::Indivisible, given.value.integer ? given.loc : implied,
                "a batch of " + counted(batch.value.integer, "sample") + " cannot be cut into " +
                    std::to_string(count) + " equal microbatches" +
                    (given.value.integer || namesTable(run) ? "" : ", one per stage"))
        .note(batch.loc, "the batch is set here")
        .help("numbers that divide it: " + listDivisors(batch.value.integer) +
              "; write `pipeline { microbatches = ... }`");
  }

  Run &run;
  Mesh &mesh;
  const Model &model;
  SourceManager &sources;
  DiagnosticEngine &diags;
};

} // namespace

void resolvePipeline(Run &run, Mesh &mesh, const Model &model, SourceManager &sources,
                     DiagnosticEngine &diags) {
  PipelineResolver(run, mesh, model, sources, diags).resolve();
}

} // namespace titan::sema
