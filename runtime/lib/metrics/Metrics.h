// The reports of a run: rows of metrics.jsonl for programs, and lines on the console for people.
// Only rank 0 writes.
//
// metrics.jsonl has one JSON object per line: step, loss, grad_norm, lr, tokens (so far),
// tokens_per_second and tflops (since the last row, as executed), mfu, memory_bytes (this process's
// peak resident set), time (seconds since the start of the run). Floating-point numbers have 9
// significant digits, or 17 in a float64 program; NaN is null.
//
// `mfu` is the percentage of the devices' peak that the model's operations reach by TorchTitan's
// formula: neither recomputation nor masks change the count. It is omitted if the peak is unknown,
// as on CPUs unless configured. `eval_loss` is present after an evaluation. `losses` and
// `eval_losses` contain the losses that the model names; `loss` and `eval_loss` are the sums of all
// losses. `eval_metrics` contains the metrics, and `metrics` those of the step, if it computes
// them. If evaluation sets have names, `eval_sets` has an object for each instead, with the keys
// loss, losses, metrics and perplexity. `grad_norms` contains the norm of each turn, where groups
// of parameters have their own losses or periods; `losses` then contains the losses of the turns of
// the step. `max_loss` is the largest mean over a rank's shard of the batch, if the batch is
// sharded.
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

/// Losses or metrics by the names that the model gives them.
using NamedNumbers = std::vector<std::pair<std::string, double>>;

/// The results of an evaluation on one data set.
struct EvaluationNumbers {
  std::string set = {}; ///< its name; empty: the only one
  double loss = 0;
  NamedNumbers losses = {}; ///< named losses only
  NamedNumbers metrics = {};
  /// From the unnamed loss, or the only loss; none if all of several losses are named.
  std::optional<double> perplexity = {};
};

struct MetricsRow {
  int64_t step = 0; ///< from 1
  double loss = 0;
  double gradNorm = 0;
  double lr = 0;
  int64_t tokens = 0;
  double tokensPerSecond = 0;
  double tflops = 0; ///< executed, total over ranks
  int64_t memoryBytes = 0;
  double time = 0;
  std::vector<EvaluationNumbers> evaluations = {}; ///< at this step, of each set
  double modelTflops = 0;                          ///< like tflops, by TorchTitan's formula
  std::optional<double> mfu = {};                  ///< per cent; if the devices' peak is known
  NamedNumbers losses = {}, metrics = {};
  NamedNumbers gradNorms = {};        ///< of each turn of the step, by the name of its losses
  std::optional<double> maxLoss = {}; ///< the largest of all ranks, if the batch is sharded
};

/// One row as a line of JSON, without the newline.
std::string toJson(const MetricsRow &row, int digits);

class MetricsFile {
public:
  /// Keeps rows up to step `keep` of the resumed run, and drops others.
  MetricsFile(const std::string &path, int digits, int64_t keep = 0);
  ~MetricsFile();
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;

  /// Writes the row immediately, so readers see complete lines and a crash loses none.
  void append(const MetricsRow &row);
  /// Makes the content survive a power failure.
  void sync();

private:
  std::string path;
  std::FILE *file;
  int digits;
};

/// A row for the console: "step  10/200  loss 4.8311  grad norm 1.20  lr 4.0e-04  8396 tok/s 441
/// MiB  left 0:04", with "mfu 41.2 %" after the tokens if it is known. `color` adds terminal
/// colours.
std::string toLine(const MetricsRow &row, int64_t steps, double secondsLeft, bool color);

/// True if standard output is a terminal and NO_COLOR is not set.
bool wantsColor();

/// Flushes standard output; UserError if it cannot be written. A closed pipe is not an error.
void flushOutput();

/// "3:07", "2:03:07", "4 d 2:03:07".
std::string formatDuration(double seconds);
/// "441 MiB", "1.4 GiB".
std::string formatBytes(int64_t bytes);

/// Largest resident set of this process so far, in bytes.
int64_t peakMemoryBytes();

} // namespace titan::rt
