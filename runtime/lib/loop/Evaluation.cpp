#include "Evaluation.h"

#include "checkpoint/Checkpoint.h"

#include "base/Error.h"
#include "metrics/Metrics.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

namespace titan::rt {

namespace {

constexpr const char *function = "eval";

std::string pathOf(const Settings &settings) {
  std::string path = settings.text("eval.data.path", "");
  if (path.empty())
    throw UserError("there are no data to evaluate on: pass --data FILE");
  return path;
}

/// Full batches of the data set, at most `most` unless that is 0.
int64_t countBatches(const Program &program, const DataSource &data, const std::string &path,
                     int64_t most) {
  int64_t all = data.samples() / program.batch;
  if (all == 0)
    throw UserError(
        fmt::format("'{}' holds {} samples; a batch has {}", path, data.samples(), program.batch));
  return most == 0 ? all : std::min(all, most);
}

/// Opens the data set on all ranks, and checks that it holds a batch.
DataSource openSet(Executor &executor, const Settings &settings) {
  std::optional<DataSource> set;
  executor.world().runCollectively([&] {
    const std::string path = pathOf(settings);
    set.emplace(openData(executor.program(), inputsOf(executor.program(), function),
                         evaluationData(settings), 0, /*shuffle=*/false));
    countBatches(executor.program(), *set, path, 0);
  });
  return std::move(*set);
}

void add(NamedLosses &sums, const NamedLosses &losses) {
  if (sums.empty())
    sums = losses;
  else
    for (size_t i = 0; i < losses.size(); ++i)
      sums[i].second += losses[i].second;
}

/// Removes the unnamed loss from `losses`, if it is there.
std::optional<double> takeUnnamed(NamedLosses &losses) {
  auto unnamed =
      std::find_if(losses.begin(), losses.end(), [](auto &one) { return one.first.empty(); });
  if (unnamed == losses.end())
    return std::nullopt;
  double value = unnamed->second;
  losses.erase(unnamed);
  return value;
}

/// " (balance 0.01, z 0.002)"; empty without named losses.
std::string listOf(const NamedLosses &losses, int digits) {
  std::string all;
  for (const auto &[name, value] : losses)
    all += fmt::format("{}{} {:.{}g}", all.empty() ? "" : ", ", name, value, digits);
  return all.empty() ? "" : " (" + all + ")";
}

} // namespace

bool canEvaluate(Executor &executor) {
  return executor.hasFunction(function);
}

Evaluation::Evaluation(Executor &executor, const Settings &settings)
    : executor(executor), interval(settings.integer("eval.every", 0)),
      data(openSet(executor, settings)),
      batches(countBatches(executor.program(), data, pathOf(settings),
                           settings.integer("eval.batches", 0))),
      reader(executor, function, inputsOf(executor.program(), function)) {
  executor.prepare(function); // in a training run, before its first step
}

std::optional<EvaluationResult> Evaluation::run(const std::function<bool()> &isStopped) {
  auto begin = std::chrono::steady_clock::now();
  const Program &program = executor.program();
  EvaluationResult result;
  for (int64_t batch = 0; batch < batches; ++batch) {
    reader.load(data, batch * program.batch);
    executor.run(function);
    result.loss += executor.readScalar("loss", function);
    add(result.losses, executor.readLosses(function));
    if (batch + 1 < batches && isStopped())
      return std::nullopt;
  }
  result.loss /= static_cast<double>(batches);
  for (auto &[name, value] : result.losses)
    value /= static_cast<double>(batches);
  if (std::optional<double> unnamed = takeUnnamed(result.losses))
    result.perplexity = std::exp(*unnamed);
  else if (result.losses.size() <= 1)
    result.perplexity = std::exp(result.loss);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  result.tokens = batches * program.batch * program.seq;
  result.seconds = seconds.count();
  return result;
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
  const LoadedWeights loaded =
      loadWeights(executor, options.initFrom, static_cast<uint64_t>(settings.integer("seed", 0)));
  printNotes(executor, loaded);
  if (options.dryRun)
    return 0;
  // Weights without a step are those of the last one.
  executor.writeScalar("step",
                       static_cast<double>(loaded.step.value_or(settings.integer("steps", 100))));
  const EvaluationResult result = *evaluation.run([] { return false; });
  int digits = executor.program().dtype == DType::F64 ? 17 : 9;
  if (executor.isFirst())
    fmt::print(
        "loss {:.{}g}{}{}  {} tokens in {}\n", result.loss, digits, listOf(result.losses, digits),
        result.perplexity ? fmt::format("  perplexity {:.{}g}", *result.perplexity, digits) : "",
        result.tokens, formatDuration(result.seconds));
  flushOutput();
  return 0;
}

} // namespace titan::rt
