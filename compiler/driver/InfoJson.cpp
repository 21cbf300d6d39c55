// `titanc info --json`: the summary of a run for other programs.
#include "compiler/driver/RunSummary.h"
#include "compiler/sema/check/Patterns.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {
namespace {

using sema::CheckedRun;

llvm::json::Object shardingJson(const plan::TensorLayout &layout) {
  llvm::json::Object dims;
  for (auto [dim, axes] : llvm::zip_equal(layout.dims, layout.axes))
    if (!axes.empty())
      dims[dim] = llvm::json::Array(axes);
  return llvm::json::Object{{"dims", std::move(dims)}, {"flat", llvm::json::Array(layout.flat)}};
}

const plan::TensorLayout *findLayout(const RunSummary &summary, const std::string &parameter) {
  for (const plan::TensorLayout &layout : summary.sharding.layouts)
    if (layout.isParameter && layout.name == parameter)
      return &layout;
  return nullptr;
}

/// Constrained values other than parameters, by the names of overrides.
llvm::json::Array valuesJson(const RunSummary &summary) {
  llvm::json::Array values;
  for (const plan::TensorLayout &layout : summary.sharding.layouts)
    if (!layout.isParameter)
      values.push_back(llvm::json::Object{{"name", layout.name},
                                          {"dims", llvm::json::Array(layout.dims)},
                                          {"sharding", shardingJson(layout)},
                                          {"file", layout.file},
                                          {"line", layout.line}});
  return values;
}

/// The parameters, or the buffers.
llvm::json::Object parametersJson(const CheckedRun &run, const RunSummary &summary, bool buffers) {
  const sema::Model &model = run.train;
  llvm::json::Array tensors;
  for (auto [index, parameter] : llvm::enumerate(model.parameters)) {
    if (parameter.isBuffer != buffers)
      continue;
    llvm::json::Array shape, names;
    llvm::json::Array iterations;
    for (size_t i = 0; i < parameter.repeats.size(); ++i) {
      shape.push_back(static_cast<int64_t>(parameter.iterations[i].size()));
      names.push_back(model.dims[parameter.repeats[i]].name);
      iterations.push_back(llvm::json::Array(parameter.iterations[i]));
    }
    for (sema::DimId id : parameter.type.dims) {
      shape.push_back(model.dims[id].size);
      names.push_back(model.dims[id].name);
    }
    llvm::json::Object tensor{{"name", makePublicName(parameter)},
                              {"shape", std::move(shape)},
                              {"dims", std::move(names)},
                              {"iterations", std::move(iterations)},
                              {"dtype", sema::spelling(parameter.type.dtype)},
                              {"frozen", parameter.frozen}};
    if (const plan::TensorLayout *layout = findLayout(summary, parameter.name))
      tensor["sharding"] = shardingJson(*layout);
    if (std::optional<llvm::json::Object> matrix = matrixJson(run, index))
      tensor["matrix"] = std::move(*matrix);
    tensors.push_back(std::move(tensor));
  }
  return llvm::json::Object{{"total", model.parameterCount(buffers)},
                            {"tensors", std::move(tensors)}};
}

llvm::json::Array patternsJson(const CheckedRun &run) {
  llvm::json::Array patterns;
  for (const sema::PatternUse &use : sema::listPatterns(run))
    patterns.push_back(llvm::json::Object{{"section", use.section},
                                          {"pattern", use.pattern},
                                          {"matches", llvm::json::Array(use.matches)}});
  return patterns;
}

llvm::json::Array paddingJson(const CheckedRun &run) {
  llvm::json::Array padding;
  for (const auto &[dim, size] : findPaddedDims(run))
    padding.push_back(
        llvm::json::Object{{"dim", dim->name}, {"size", dim->size}, {"padded", size}});
  return padding;
}

llvm::json::Array settingsJson(const sema::Run &run) {
  llvm::json::Array settings;
  for (const sema::OptionSpec &spec : run.allOptions())
    settings.push_back(
        llvm::json::Object{{"path", spec.path},
                           {"value", run[spec.path].print()},
                           {"set", run.options.at(spec.path).loc.isValid()},
                           {"fixed", spec.fixed == sema::Fixed::Compile ? "compile" : "launch"}});
  return settings;
}

/// The requested and the effective value of each option.
llvm::json::Array optionsJson(const sema::Run &run) {
  llvm::json::Array options;
  for (const sema::OptionSpec &spec : run.allOptions())
    if (run.options.at(spec.path).loc.isValid())
      options.push_back(llvm::json::Object{
          {"name", spec.path}, {"state", "applied"}, {"reason", run[spec.path].print()}});
  return options;
}

llvm::json::Array collectivesJson(const std::vector<dist::CollectiveUse> &uses) {
  llvm::json::Array out;
  for (const dist::CollectiveUse &use : uses) {
    llvm::json::Array values;
    for (const dist::CollectiveValue &value : use.values)
      values.push_back(llvm::json::Object{{"value", value.name},
                                          {"file", value.file},
                                          {"line", value.line},
                                          {"bytes_sent", value.bytesSent}});
    llvm::json::Object collective{{"kind", use.kind},
                                  {"values", std::move(values)},
                                  {"axes", llvm::json::Array(use.axes)},
                                  {"times", use.times},
                                  {"overlapped", use.isOverlapped},
                                  {"bytes_sent", use.getBytesSent()}};
    if (!use.chunking.empty())
      collective["chunking"] = use.chunking;
    out.push_back(std::move(collective));
  }
  return out;
}

/// The ranks along the axis of a pipeline; empty without one.
llvm::json::Array trafficJson(const RunSummary &summary) {
  llvm::json::Array ranks;
  if (summary.traffic.size() > 1)
    for (const plan::TrafficReport &rank : summary.traffic)
      ranks.push_back(llvm::json::Object{{"bytes_sent", rank.getBytesSent()},
                                         {"collectives", collectivesJson(rank.uses)}});
  return ranks;
}

llvm::json::Array balanceJson(const std::vector<plan::AttentionBalance> &attention) {
  llvm::json::Array out;
  for (const plan::AttentionBalance &entry : attention)
    out.push_back(llvm::json::Object{{"value", entry.value.name},
                                     {"file", entry.value.file},
                                     {"line", entry.value.line},
                                     {"axes", llvm::json::Array(entry.axes)},
                                     {"balance", entry.balance}});
  return out;
}

llvm::json::Object splitJson(const dist::WantedSplit &split) {
  return llvm::json::Object{{"dim", split.dim},
                            {"value", split.origin.name},
                            {"file", split.origin.file},
                            {"line", split.origin.line}};
}

llvm::json::Array conflictsJson(const std::vector<dist::ConflictUse> &conflicts) {
  llvm::json::Array out;
  for (const dist::ConflictUse &conflict : conflicts) {
    llvm::json::Array givenUp;
    for (const dist::WantedSplit &split : conflict.rejected)
      givenUp.push_back(splitJson(split));
    llvm::json::Value chosen = nullptr;
    if (conflict.chosen)
      chosen = splitJson(*conflict.chosen);
    out.push_back(llvm::json::Object{{"axis", conflict.axis},
                                     {"value", conflict.operation.name},
                                     {"file", conflict.operation.file},
                                     {"line", conflict.operation.line},
                                     {"kept", std::move(chosen)},
                                     {"given_up", std::move(givenUp)}});
  }
  return out;
}

} // namespace

void printJson(const CheckedRun &run, const RunSummary &summary, bool allGroups) {
  llvm::json::Object out{
      {"schema_version", 1},
      {"model", run.modelName},
      {"run", run.run.name},
      {"ranks", summary.ranks},
      {"mesh", meshJson(run.mesh, summary.mesh, allGroups ? summary.ranks : 0)},
      {"parameters", parametersJson(run, summary, /*buffers=*/false)},
      {"buffers", parametersJson(run, summary, /*buffers=*/true)},
      {"patterns", patternsJson(run)},
      {"values", valuesJson(summary)},
      {"conflicts", conflictsJson(summary.sharding.conflicts)},
      {"flops_per_token", summary.flopsPerToken},
      {"model_flops_per_token", summary.modelFlopsPerToken},
      {"padding", paddingJson(run)},
      {"stages", stagesJson(summary)},
      {"memory", memoryJson(summary)},
      {"collectives", collectivesJson(summary.traffic[summary.findBusiestRank()].uses)},
      {"traffic", trafficJson(summary)},
      {"attention", balanceJson(summary.attention)},
      {"lines", linesJson(summary)},
      {"options", optionsJson(run.run)},
      {"settings", settingsJson(run.run)}};
  if (summary.prediction)
    out["prediction"] = predictionJson(summary);
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(out))) << '\n';
}

} // namespace titan::driver
