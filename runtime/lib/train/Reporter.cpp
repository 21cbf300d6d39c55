#include "Reporter.h"

#include <filesystem>
#include <unistd.h>

namespace titan::rt {

namespace {

constexpr double gibibyte = 1 << 30;

double machineMemoryBytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

} // namespace

void Reporter::begin(int64_t step) {
  if (!session.isFirst())
    return;
  std::filesystem::path folder(directory);
  metrics.emplace((folder / "metrics.jsonl").string(),
                  session.program().dtype == DType::F64 ? 17 : 9, step);
  events.emplace((folder / "tensorboard").string(), step);
}

/// The tags are TorchTitan's, and so is what they count: throughput and tflops are of one device.
void Reporter::row(const MetricsRow &row, double secondsLeft, double seconds, double dataSeconds) {
  if (!session.isFirst())
    return;
  metrics->append(row);
  double ranks = session.world().size(), memory = static_cast<double>(row.memoryBytes);
  std::vector<std::pair<std::string, double>> scalars = {
      {"loss_metrics/global_avg_loss", row.loss},
      {"grad_norm", row.gradNorm},
      {"throughput(tps)", row.tokensPerSecond / ranks},
      {"tflops", row.tflops / ranks},
      {"time_metrics/end_to_end(s)", seconds},
      {"time_metrics/data_loading(s)", dataSeconds},
      {"time_metrics/data_loading(%)", 100 * dataSeconds / seconds},
      {"memory/max_active(GiB)", memory / gibibyte},
      {"n_tokens_seen", static_cast<double>(row.tokens)},
      {"lr/AdamW", row.lr}};
  if (session.device().isHost()) // of a device's memory the runtime knows its own part alone
    scalars.push_back({"memory/max_active(%)", 100 * memory / machineMemoryBytes()});
  events->append(row.step, scalars);
  std::printf("%s\n", toLine(row, last, secondsLeft, wantsColor()).c_str());
  std::fflush(stdout);
  status("running", row.step, 0, "");
}

void Reporter::evaluation(int64_t step, const EvaluationResult &result) {
  if (!session.isFirst())
    return;
  double tokensPerSecond = static_cast<double>(result.tokens) / result.seconds;
  double memory = static_cast<double>(session.device().peakMemoryBytes());
  events->append(step,
                 {{"validation_metrics/loss", result.loss},
                  {"validation_metrics/throughput(tps)", tokensPerSecond / session.world().size()},
                  {"validation_metrics/memory/max_active(GiB)", memory / gibibyte}});
  say("step {}  evaluation: loss {:.4f} on {} tokens", step, result.loss, result.tokens);
}

void Reporter::status(const char *state, int64_t step, int exitStatus, const std::string &message) {
  if (session.isFirst())
    writeStatus((std::filesystem::path(directory) / "status.json").string(),
                {state, step, horizon, exitStatus, message});
}

} // namespace titan::rt
