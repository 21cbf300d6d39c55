#include "compiler/sema/mesh/StageLayers.h"

#include "base/text/Counted.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <numeric>

namespace titan::sema {
namespace {

using Counts = std::vector<int64_t>;

const Option &listOption(const Run &run) {
  return run.options.at("pipeline.layers_per_stage");
}
const Option &cutOption(const Run &run) {
  return run.options.at("pipeline.cuts");
}

std::string sumText(const Counts &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : " + ") + std::to_string(number);
  return text;
}

/// Equal numbers of layers; the first stages have one more if the stages do not divide the layers.
Counts balance(int64_t layers, int64_t stages) {
  Counts counts(static_cast<size_t>(stages), layers / stages);
  for (int64_t i = 0; i < layers % stages; ++i)
    ++counts[static_cast<size_t>(i)];
  return counts;
}

/// One iteration of a repeat.
struct Layer {
  std::string name; ///< as in the names of its parameters: `decoder.layers.3`
  const Op *repeat;
};

/// The layers in the order of the program.
std::vector<Layer> listLayers(const Model &model, const std::string &dim) {
  std::vector<Layer> layers;
  for (const Op &op : model.body.ops)
    if (op.kind == OpKind::Repeat && model.dims[op.dims[0]].name == dim)
      for (int64_t i = 0; i < model.dims[op.dims[0]].size; ++i)
        layers.push_back({op.path + "." + std::to_string(i), &op});
  return layers;
}

std::optional<Counts> readList(const Option &option, int64_t layers, int64_t stages,
                               const std::string &dim, DiagnosticEngine &diags) {
  Counts counts;
  for (const Value &element : option.value.elements)
    counts.push_back(element.integer);
  std::string what;
  const int64_t sum = std::accumulate(counts.begin(), counts.end(), int64_t(0));
  if (static_cast<int64_t>(counts.size()) != stages)
    what = "`pipeline.layers_per_stage` lists " +
           counted(static_cast<int64_t>(counts.size()), "stage") + ", but there are " +
           std::to_string(stages);
  else if (std::count(counts.begin(), counts.end(), 0))
    what = "a stage has at least one layer, not 0";
  else if (sum != layers)
    what = "`pipeline.layers_per_stage` lists " + counted(sum, "layer") + ", but `" + dim +
           "` has " + std::to_string(layers);
  if (what.empty())
    return counts;
  diags.report(Code::PipelineStages, option.loc, what)
      .help("list " + counted(stages, "number") + " with the sum " + std::to_string(layers) +
            ", as " + sumText(balance(layers, stages)));
  return std::nullopt;
}

/// Finds the layers that a run names as the first ones of the second and all later stages.
class CutReader {
public:
  CutReader(const Option &option, const std::vector<Layer> &layers, int64_t stages,
            const std::string &dim, DiagnosticEngine &diags)
      : option(option), layers(layers), stages(stages), dim(dim), diags(diags) {}

  std::optional<Counts> read() {
    std::vector<size_t> starts{0};
    for (const Value &name : option.value.elements) {
      const std::optional<size_t> start = find(name.text);
      if (!start || !follows(*start, starts.back()))
        return std::nullopt;
      starts.push_back(*start);
    }
    if (static_cast<int64_t>(starts.size()) != stages)
      return reportCount(static_cast<int64_t>(starts.size()));
    starts.push_back(layers.size());
    Counts counts;
    for (size_t i = 0; i + 1 < starts.size(); ++i)
      counts.push_back(static_cast<int64_t>(starts[i + 1] - starts[i]));
    return counts;
  }

private:
  Diagnostic &report(const std::string &what) {
    return diags.report(Code::PipelineStages, option.loc, what);
  }

  /// The number of the layer with this name.
  std::optional<size_t> find(const std::string &name) {
    auto isNamed = [&](const Layer &layer) { return layer.name == name; };
    const auto found = std::find_if(layers.begin(), layers.end(), isNamed);
    if (found == layers.end())
      return reportUnknown(name);
    const auto other = std::find_if(found + 1, layers.end(), isNamed);
    if (other == layers.end())
      return found - layers.begin();
    report("`" + name + "` is an iteration of several repeats")
        .note(found->repeat->loc, "one of them")
        .note(other->repeat->loc, "another one")
        .help("name the calls of the blocks that contain them, as `Block(x, named = \"decoder\")`, "
              "or write `layers_per_stage`");
    return std::nullopt;
  }

  std::nullopt_t reportUnknown(const std::string &name) {
    const size_t dot = std::min(name.rfind('.'), name.size());
    const std::string path = name.substr(0, dot);
    auto isOfPath = [&](const Layer &layer) { return layer.repeat->path == path; };
    const auto last = std::find_if(layers.rbegin(), layers.rend(), isOfPath);
    Diagnostic &diag =
        report("`" + name + "` is not an iteration of a `repeat` over `" + dim + "`");
    if (last != layers.rend())
      diag.note(last->repeat->loc, "its last iteration is `" + last->name + "`");
    else if (const std::string meant = nearest(name); !meant.empty())
      diag.help("did you mean `" + meant + "`?");
    else
      diag.help("a cut is the first iteration of a stage: one of " + listRanges());
    return std::nullopt;
  }

  /// The layer that `name` probably means: `name` is a path inside the layer, a misspelling, or
  /// lacks the dimension of the repeat (`decoder.3` for `decoder.layers.3`).
  std::string nearest(const std::string &name) const {
    std::vector<std::string> names;
    for (const Layer &layer : layers) {
      if (name.rfind(layer.name + ".", 0) == 0)
        return layer.name;
      names.push_back(layer.name);
    }
    if (std::string near = nearestName(name, names); !near.empty())
      return near;
    for (const Layer &layer : layers) {
      const size_t size = layer.repeat->path.size(); // `decoder.layers`
      const size_t call = size - std::min(size, dim.size() + 1);
      if (layer.name.substr(0, call) + layer.name.substr(size) == name)
        return layer.name;
    }
    return "";
  }

  /// "`encoder.layers.0` to `encoder.layers.5`, `decoder.layers.0` to `decoder.layers.5`".
  std::string listRanges() const {
    std::string text;
    for (size_t i = 0; i < layers.size(); ++i) {
      const bool isFirst = i == 0 || layers[i - 1].repeat != layers[i].repeat;
      const bool isLast = i + 1 == layers.size() || layers[i + 1].repeat != layers[i].repeat;
      if (isFirst)
        text += (text.empty() ? "`" : ", `") + layers[i].name + "`";
      if (isLast && !isFirst)
        text += " to `" + layers[i].name + "`";
    }
    return text;
  }

  /// Whether a stage can begin at layer `start` if the stage before begins at layer `before`.
  /// Reports if not.
  bool follows(size_t start, size_t before) {
    if (start > before)
      return true;
    if (start == 0)
      report("`" + layers[0].name + "` begins the first stage, which needs no cut")
          .help("remove it: a cut is the first iteration of the second or a later stage");
    else
      report("`" + layers[start].name + "` does not follow `" + layers[before].name + "`")
          .help("name each cut once, in the order of the program");
    return false;
  }

  std::nullopt_t reportCount(int64_t count) {
    const Counts counts = balance(static_cast<int64_t>(layers.size()), stages);
    std::string example;
    size_t start = 0;
    for (size_t i = 0; i + 1 < counts.size(); ++i) {
      start += static_cast<size_t>(counts[i]);
      example += (i ? ", \"" : "\"") + layers[start].name + "\"";
    }
    report("`pipeline.cuts` makes " + counted(count, "stage") + ", but there are " +
           std::to_string(stages))
        .help("name " + counted(stages - 1, "iteration") + ", as [" + example + "]");
    return std::nullopt;
  }

  const Option &option;
  const std::vector<Layer> &layers;
  const int64_t stages;
  const std::string &dim;
  DiagnosticEngine &diags;
};

} // namespace

bool statesLayers(const Run &run) {
  return !listOption(run).value.elements.empty() || !cutOption(run).value.elements.empty();
}

std::optional<Counts> resolveLayers(const Run &run, const Model &model, const std::string &dim,
                                    int64_t stages, DiagnosticEngine &diags) {
  const Option &list = listOption(run), &cuts = cutOption(run);
  if (list.value.isError() || cuts.value.isError())
    return std::nullopt;
  const std::vector<Layer> layers = listLayers(model, dim);
  const auto count = static_cast<int64_t>(layers.size());
  if (!statesLayers(run))
    return balance(count, stages);
  if (cuts.value.elements.empty())
    return readList(list, count, stages, dim, diags);
  if (list.value.elements.empty())
    return CutReader(cuts, layers, stages, dim, diags).read();
  diags
      .report(Code::OptionWithoutEffect, list.loc,
              "`pipeline.layers_per_stage` cannot be combined with `pipeline.cuts`, which also "
              "determines the stages")
      .note(cuts.loc, "the cuts are named here");
  return std::nullopt;
}

} // namespace titan::sema
