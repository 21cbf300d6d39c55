#include "Progress.h"

#include "metrics/PublishedPeak.h"

#include <cmath>

namespace titan::rt {

namespace {

/// Removes the meaningless sign of NaN.
double withoutSign(double value) {
  return std::isnan(value) ? std::abs(value) : value;
}

/// The peak of one rank's device in TFLOP/s, if it is configured or published.
std::optional<double> findPeakTflops(Executor &executor, const Settings &settings) {
  if (double configured = settings.number("metrics.peak_tflops", 0); configured > 0)
    return configured;
  return publishedPeakTflops(executor.device().name(), settings.text("precision.compute", ""));
}

} // namespace

Progress::Progress(Executor &executor, TrainStep &trainStep, const Settings &settings, int64_t last)
    : executor(executor), trainStep(trainStep), last(last),
      peakTflops(findPeakTflops(executor, settings)) {}

void Progress::begin(int64_t step) {
  beginning = rowTime = Clock::now();
  firstStep = rowStep = step;
}

MetricsRow Progress::makeRow(int64_t step, double rate, double secondsSinceRow) {
  const Program &program = executor.program();
  MetricsRow row;
  row.step = step;
  row.loss = withoutSign(trainStep.loss());
  row.losses = trainStep.losses();
  row.metrics = trainStep.metrics();
  row.maxLoss = trainStep.maxLoss();
  row.gradNorm = withoutSign(trainStep.norm());
  row.gradNorms = trainStep.norms();
  row.lr = rate;
  row.tokens = step * program.samples * program.positions;
  row.tokensPerSecond =
      static_cast<double>((step - rowStep) * program.samples * program.positions) / secondsSinceRow;
  row.tflops = row.tokensPerSecond * program.flopsPerToken * 1e-12;
  row.modelTflops = row.tokensPerSecond * program.modelFlopsPerToken * 1e-12;
  if (peakTflops)
    row.mfu = 100 * row.modelTflops / executor.world().size() / *peakTflops;
  row.memoryBytes = executor.device().peakMemoryBytes();
  row.time = seconds();
  return row;
}

double Progress::secondsSinceRow() const {
  return secondsSince(rowTime);
}

void Progress::endRow(int64_t step) {
  rowTime = Clock::now();
  rowStep = step;
  readingSeconds = 0;
}

double Progress::seconds() const {
  return secondsSince(beginning);
}

double Progress::secondsLeft(int64_t step) const {
  return seconds() / static_cast<double>(step - firstStep) * static_cast<double>(last - step);
}

} // namespace titan::rt
