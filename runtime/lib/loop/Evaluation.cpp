#include "Evaluation.h"

#include "EvaluationOutputs.h"
#include "EvaluationReport.h"
#include "checkpoint/Checkpoint.h"

#include "base/Error.h"
#include "metrics/Metrics.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace titan::rt {

namespace {

constexpr const char *function = "eval";

/// Opens the sets on all ranks, and checks that each holds enough samples for an evaluation.
std::vector<EvaluationSet> openSets(Executor &executor, const Settings &settings) {
  std::vector<EvaluationSet> sets;
  executor.world().runCollectively([&] {
    const DataSettings from = getEvaluationSettings(settings);
    if (from.path.empty())
      throw UserError("the run has no evaluation data: pass --data FILE");
    const Program &program = executor.program();
    sets = openEvaluationSets(program, from, function);
    for (const EvaluationSet &set : sets)
      if (!program.sumsOverSamples && set.data.samples() < program.samples)
        throw UserError(
            fmt::format("'{}' holds {} samples, and an evaluation of this model reads full batches "
                        "of {}, since a loss or metric is no sum over samples: take a longer set, "
                        "or rebuild with `titanc build FILE.titan --set data.batch={}` or less",
                        set.path, set.data.samples(), program.samples,
                        std::max<int64_t>(set.data.samples(), 1)));
  });
  return sets;
}

} // namespace

bool canEvaluate(Executor &executor) {
  return executor.hasFunction(function);
}

Evaluation::Evaluation(Executor &executor, const Settings &settings)
    : executor(executor), interval(settings.integer("eval.every", 0)),
      mostBatches(settings.integer("eval.batches", 0)), sets(openSets(executor, settings)),
      reader(executor, function, getInputSpecs(executor.program(), function)),
      memory(reader.makeBatch()) {
  executor.prepare(function); // in a training run, before its first step
  executor.world().runCollectively([&] {
    for (const EvaluationSet &set : sets)
      labels.push_back(countLabels(set, countSamples(set), executor.program().positions));
  });
}

std::vector<Evaluation::WeightedBatch> Evaluation::chooseBatches(const EvaluationSet &set) const {
  const int64_t size = executor.program().samples, samples = set.data.samples();
  const int64_t full = samples / size, rest = samples % size;
  std::vector<WeightedBatch> batches;
  for (int64_t i = 0; i < (mostBatches == 0 ? full : std::min(full, mostBatches)); ++i)
    batches.push_back({i * size, size});
  const bool isPartial = rest > 0 && (mostBatches == 0 || mostBatches > full);
  if (isPartial && executor.program().sumsOverSamples) {
    batches.push_back({full * size, size});
    batches.push_back({samples - 1, rest - size});
  }
  return batches;
}

int64_t Evaluation::countSamples(const EvaluationSet &set) const {
  int64_t samples = 0;
  for (const WeightedBatch &batch : chooseBatches(set))
    samples += batch.samples;
  return samples;
}

std::optional<EvaluationResult> Evaluation::run(size_t number,
                                                const std::function<bool()> &isStopped) {
  const EvaluationSet &set = sets[number];
  const auto begin = std::chrono::steady_clock::now();
  const Program &program = executor.program();
  EvaluationOutputs outputs(program);
  const int64_t last = set.data.samples() - 1;
  const std::vector<WeightedBatch> batches = chooseBatches(set);
  for (const WeightedBatch &batch : batches) {
    reader.read(set.data, batch.firstSample, memory, last);
    reader.load(memory);
    executor.run(function);
    outputs.add(executor.readOutputs("", function),
                static_cast<double>(batch.samples) / static_cast<double>(program.samples));
    const bool isLast = &batch == &batches.back() && &set == &sets.back();
    if (!isLast && isStopped())
      return std::nullopt;
  }
  const int64_t samples = countSamples(set);
  EvaluationResult result{.numbers = outputs.numbers(),
                          .samples = samples,
                          .unread = set.data.samples() - samples,
                          .tokens = labels[number],
                          .slots = samples * program.positions};
  result.numbers.set = set.name;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

std::optional<std::vector<EvaluationResult>>
Evaluation::run(const std::function<bool()> &isStopped) {
  std::vector<EvaluationResult> results;
  for (size_t set = 0; set < sets.size(); ++set) {
    std::optional<EvaluationResult> result = run(set, isStopped);
    if (!result)
      return std::nullopt;
    results.push_back(std::move(*result));
  }
  return results;
}

int evaluate(Executor &executor, const Options &options, const Settings &settings) {
  executor.world().runCollectively([&] {
    if (!canEvaluate(executor))
      throw UserError("this program was compiled without evaluation; rebuild it with a set: titanc "
                      "build FILE.titan --set 'eval.data.path=\"TEXT\"'");
    if (options.initFrom.empty())
      throw UserError("eval needs weights: pass --init-from DIR or FILE.safetensors");
  });
  Evaluation evaluation(executor, settings);
  loadTrainedWeights(executor, options, settings);
  if (options.dryRun)
    return 0;
  const std::vector<EvaluationResult> results = *evaluation.run([] { return false; });
  if (!executor.isFirst())
    return 0;
  if (!options.json)
    fmt::print("{}", toText(results, executor.program().dtype == DType::F64 ? 17 : 9));
  else
    for (const EvaluationResult &result : results)
      fmt::print("{}\n", toJson(result));
  flushOutput();
  return 0;
}

} // namespace titan::rt
