// What a run tells about itself while it goes: rows of metrics.jsonl for programs and lines on the
// console for people. Only rank 0 writes.
//
// metrics.jsonl has one JSON object a line: step, loss, grad_norm, lr, tokens (so far),
// tokens_per_second and tflops (since the last row, as executed), mfu, memory_bytes (this process's
// peak resident set), time (seconds since the run started). Floating-point numbers have 9
// significant digits, or 17 in a float64 program; a loss that is not a number is null. `mfu` is the
// share, in per cent, of the devices' peak that the model's operations take by TorchTitan's
// formula: recomputation does not count, nor does what a mask saves. It is left out where the peak
// is not known, as on processors unless it is said; `eval_loss` is there where the run was
// evaluated. `losses` and `eval_losses` hold the losses that have names in the model, each by its
// name; `loss` and `eval_loss` are the sums of all. `max_loss` is the greatest mean over the part
// of the batch that a rank has, where ranks have parts.
//
// Errors: UserError if a file cannot be written.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace titan::rt {

/// The losses that a model names, in its order.
using NamedLosses = std::vector<std::pair<std::string, double>>;

struct MetricsRow {
  int64_t step = 0; ///< from 1
  double loss = 0;
  double gradNorm = 0;
  double lr = 0;
  int64_t tokens = 0;
  double tokensPerSecond = 0;
  double tflops = 0; ///< executed, on all ranks together
  int64_t memoryBytes = 0;
  double time = 0;
  std::optional<double> evalLoss = {}; ///< where the run was evaluated after this step
  double modelTflops = 0;              ///< as tflops, by TorchTitan's formula
  std::optional<double> mfu = {};      ///< per cent; where the devices' peak is known
  NamedLosses losses = {}, evalLosses = {};
  std::optional<double> maxLoss = {}; ///< the greatest of a rank, where ranks have losses
};

/// One row as a line of JSON, without the newline.
std::string toJson(const MetricsRow &row, int digits);

class MetricsFile {
public:
  /// Keeps rows up to step `keep` of an earlier run (a resumed one), drops the others.
  MetricsFile(const std::string &path, int digits, int64_t keep = 0);
  ~MetricsFile();
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;

  /// Written at once, so that a reader sees whole lines and a crash loses none.
  void append(const MetricsRow &row);
  /// What was written survives a loss of power.
  void sync();

private:
  std::string path;
  std::FILE *file;
  int digits;
};

/// How a person reads a row: "step  10/200  loss 4.8311  grad norm 1.20  lr 4.0e-04  8396 tok/s
/// 441 MiB  left 0:04", with "mfu 41.2 %" behind the tokens where it is known. `color` adds
/// terminal colours.
std::string toLine(const MetricsRow &row, int64_t steps, double secondsLeft, bool color);

/// True if standard output is a terminal and the user did not switch colours off (NO_COLOR).
bool wantsColor();

/// Hands on what was printed to standard output; UserError where that cannot be written. A reader
/// that has left is none.
void flushOutput();

/// "3:07", "2:03:07", "4 d 2:03:07".
std::string formatDuration(double seconds);
/// "441 MiB", "1.4 GiB".
std::string formatBytes(int64_t bytes);

/// Largest resident set of this process so far, in bytes.
int64_t peakMemoryBytes();

} // namespace titan::rt
