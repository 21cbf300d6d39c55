// Text of metrics: JSON, console lines, durations and sizes; and the memory use of the process
// (Metrics.h).
#include "Metrics.h"

#include "base/Error.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

namespace titan::rt {

namespace {

std::string formatNumber(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : "null";
}

/// `, "key": {"name": value, ...}`; empty without numbers.
std::string entry(const std::string &key, const NamedNumbers &numbers, int digits) {
  std::string all;
  for (const auto &[name, value] : numbers)
    all += fmt::format(R"({}"{}": {})", all.empty() ? "" : ", ", name, formatNumber(value, digits));
  return all.empty() ? "" : fmt::format(R"(, "{}": {{{}}})", key, all);
}

/// `"loss": 2.5`, with named losses and metrics if there are any; each key has the prefix.
std::string entries(const std::string &prefix, const EvaluationNumbers &evaluation, int digits) {
  return fmt::format(R"("{}loss": {}{}{})", prefix, formatNumber(evaluation.loss, digits),
                     entry(prefix + "losses", evaluation.losses, digits),
                     entry(prefix + "metrics", evaluation.metrics, digits));
}

/// The entries of evaluations, after a comma.
std::string entries(const std::vector<EvaluationNumbers> &evaluations, int digits) {
  if (evaluations.empty())
    return "";
  if (evaluations[0].set.empty())
    return ", " + entries("eval_", evaluations[0], digits);
  std::string all;
  for (const EvaluationNumbers &one : evaluations)
    all += fmt::format(
        R"({}"{}": {{{}{}}})", all.empty() ? "" : ", ", one.set, entries("", one, digits),
        one.perplexity ? R"(, "perplexity": )" + formatNumber(*one.perplexity, digits) : "");
  return fmt::format(R"(, "eval_sets": {{{}}})", all);
}

} // namespace

std::string toJson(const MetricsRow &row, int digits) {
  return fmt::format(
      R"({{"step": {}, "loss": {}{}{}{}, "grad_norm": {}{}, "lr": {}, "tokens": {}, )"
      R"("tokens_per_second": {}, "tflops": {}{}, "memory_bytes": {}, "time": {}{}}})",
      row.step, formatNumber(row.loss, digits),
      row.maxLoss ? R"(, "max_loss": )" + formatNumber(*row.maxLoss, digits) : "",
      entry("losses", row.losses, digits), entry("metrics", row.metrics, digits),
      formatNumber(row.gradNorm, digits), entry("grad_norms", row.gradNorms, digits),
      formatNumber(row.lr, digits), row.tokens, formatNumber(row.tokensPerSecond, 6),
      formatNumber(row.tflops, 6), row.mfu ? R"(, "mfu": )" + formatNumber(*row.mfu, 6) : "",
      row.memoryBytes, formatNumber(row.time, 9), entries(row.evaluations, digits));
}

std::string toLine(const MetricsRow &row, int64_t steps, double secondsLeft, bool color) {
  auto paint = [&](const char *code, const std::string &text) {
    return color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  };
  int width = static_cast<int>(std::to_string(steps).size());
  return fmt::format(
      "step {}/{}  loss {}  grad norm {:.3f}  lr {:.2e}  {:.0f} tok/s{}  {}  left {}",
      paint("1", fmt::format("{:>{}}", row.step, width)), steps,
      paint("32;1", fmt::format("{:.4f}", row.loss)), row.gradNorm, row.lr, row.tokensPerSecond,
      row.mfu ? fmt::format("  mfu {:.1f} %", *row.mfu) : "", formatBytes(row.memoryBytes),
      formatDuration(secondsLeft));
}

bool wantsColor() {
  const char *off = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(off && *off);
}

void flushOutput() {
  if (std::fflush(stdout) != 0 && errno != EPIPE)
    throw UserError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

std::string formatDuration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0)
    return "?";
  auto whole = static_cast<int64_t>(std::llround(seconds));
  int64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  std::string text;
  if (days > 0)
    text = fmt::format("{} d ", days);
  if (days > 0 || hours > 0)
    return text + fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string formatBytes(int64_t bytes) {
  double mebibytes = static_cast<double>(bytes) / (1 << 20);
  if (mebibytes < 1024)
    return fmt::format("{:.0f} MiB", mebibytes);
  return fmt::format("{:.1f} GiB", mebibytes / 1024);
}

// getrusage() would include the memory before exec, of a launcher. Does not allocate, because it
// runs between training steps.
int64_t peakMemoryBytes() {
  char text[4096] = {};
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const bool isRead = file >= 0 && read(file, text, sizeof text - 1) > 0;
  if (file >= 0)
    close(file);
  const char *highest = isRead ? std::strstr(text, "VmHWM:") : nullptr;
  if (highest)
    return int64_t{1024} * std::strtoll(highest + std::strlen("VmHWM:"), nullptr, 10);
  struct rusage usage; // for systems without /proc
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

} // namespace titan::rt
