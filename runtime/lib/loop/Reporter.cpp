#include "Reporter.h"

#include "base/Error.h"
#include "launch/CrashReport.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace titan::rt {

namespace {

StatusFile *handlerStatusFile = nullptr;

constexpr double gibibyte = 1 << 30;

using Scalars = std::vector<std::pair<std::string, double>>;

/// The arena is reserved once and used throughout, so both numbers are equal. There are no
/// allocation retries to count: a failed allocation ends the program.
void addMemory(Scalars &scalars, const std::string &section, Device &device) {
  const auto bytes = static_cast<double>(device.peakMemoryBytes());
  const auto total = static_cast<double>(device.totalMemoryBytes());
  for (const char *name : {"memory/max_active", "memory/max_reserved"}) {
    scalars.push_back({section + name + "(GiB)", bytes / gibibyte});
    scalars.push_back({section + name + "(%)", 100 * bytes / total});
  }
}

void addNumbers(Scalars &scalars, const std::string &section, const NamedNumbers &numbers) {
  for (const auto &[name, value] : numbers)
    scalars.push_back({section + name, value});
}

} // namespace

void Reporter::begin(int64_t step) {
  if (!executor.isFirst())
    return;
  std::filesystem::path folder(directory);
  metrics.emplace((folder / "metrics.jsonl").string(),
                  executor.program().dtype == DType::F64 ? 17 : 9, step);
  events.emplace((folder / "tensorboard").string(), step);
}

/// Tags and definitions are TorchTitan's: throughput, tflops and mfu are per device, the latter two
/// by its formula.
void Reporter::writeRow(const MetricsRow &row, double secondsLeft, double seconds,
                        double dataSeconds) {
  if (!executor.isFirst())
    return;
  metrics->append(row);
  double ranks = executor.world().size();
  Scalars scalars = {{"loss_metrics/global_avg_loss", row.loss},
                     {"loss_metrics/global_max_loss", row.maxLoss.value_or(row.loss)},
                     {"grad_norm", row.gradNorm},
                     {"throughput(tps)", row.tokensPerSecond / ranks},
                     {"tflops", row.modelTflops / ranks},
                     {"time_metrics/end_to_end(s)", seconds},
                     {"time_metrics/data_loading(s)", dataSeconds},
                     {"time_metrics/data_loading(%)", 100 * dataSeconds / seconds},
                     {"n_tokens_seen", static_cast<double>(row.tokens)},
                     {"lr", row.lr}};
  addNumbers(scalars, "loss_metrics/losses/", row.losses);
  addNumbers(scalars, "metrics/", row.metrics);
  addNumbers(scalars, "grad_norms/", row.gradNorms);
  addMemory(scalars, "", executor.device());
  if (row.mfu)
    scalars.push_back({"mfu(%)", *row.mfu});
  events->append(row.step, scalars);
  std::printf("%s\n", toLine(row, last, secondsLeft, wantsColor()).c_str());
  std::fflush(stdout);
  writeStatus({.step = row.step});
}

void Reporter::sync() {
  if (!executor.isFirst())
    return;
  metrics->sync();
  events->sync();
}

void Reporter::writeEvaluation(int64_t step, const EvaluationResult &result) {
  if (!executor.isFirst())
    return;
  double tokensPerSecond = static_cast<double>(result.slots) / result.seconds;
  const EvaluationNumbers &numbers = result.numbers;
  const std::string section =
      "validation_metrics/" + (numbers.set.empty() ? "" : numbers.set + "/");
  Scalars scalars = {{section + "loss", numbers.loss},
                     {section + "throughput(tps)", tokensPerSecond / executor.world().size()}};
  if (numbers.perplexity)
    scalars.push_back({section + "perplexity", *numbers.perplexity});
  addNumbers(scalars, section + "losses/", numbers.losses);
  addNumbers(scalars, section + "metrics/", numbers.metrics);
  addMemory(scalars, section, executor.device());
  events->append(step, scalars);
  say("step {}  evaluation{}: loss {:.4f} on {} tokens", step,
      numbers.set.empty() ? "" : " " + numbers.set, numbers.loss, result.tokens);
}

void Reporter::writeStatus(RunStatus status) {
  if (!executor.isFirst())
    return;
  const bool begins = !statusFile;
  const std::string path = (std::filesystem::path(directory) / "status.json").string();
  if (begins) {
    if (const std::string before = describeUnended(path); !before.empty())
      say("note: the previous run ended abruptly {}: it was killed, or its machine went down",
          before);
    statusFile.emplace(path, horizon);
    handlerStatusFile = &*statusFile;
    setExitHook([](int exitStatus, const SafeText &message) {
      handlerStatusFile->writeFromHandler(exitStatus, message);
    });
  }
  status.weights = finalWeights;
  if (!statusFile->write(std::move(status)) && begins)
    throw UserError("cannot write '" + path + "': " + std::strerror(errno));
}

Reporter::~Reporter() {
  setExitHook(nullptr);
}

} // namespace titan::rt
