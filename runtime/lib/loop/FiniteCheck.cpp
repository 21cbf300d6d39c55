#include "FiniteCheck.h"

#include "base/Error.h"
#include "manifest/Manifest.h"

#include <cmath>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// The number of skipped steps that are reported.
constexpr int maxReports = 10;

/// Steps in a row whose update may be skipped. They differ in their data only, so a bad sample is
/// not the cause of more.
constexpr int maxSkipsInRow = 100;

OnNonFinite readPolicy(const Settings &settings) {
  const std::string word = settings.text("on_nonfinite", "stop");
  return word == "skip"   ? OnNonFinite::Skip
         : word == "warn" ? OnNonFinite::Warn
                          : OnNonFinite::Stop;
}

} // namespace

FiniteCheck::FiniteCheck(Executor &executor, const TrainStep &trainStep, const Settings &settings,
                         std::string runDirectory)
    : executor(executor), trainStep(trainStep), policy(readPolicy(settings)),
      runDirectory(std::move(runDirectory)) {}

std::string FiniteCheck::describeRemedy(int64_t step) const {
  return step == firstStep
             ? "no update of this run came before, so look for numbers that are not finite in the "
               "data and in the weights that it started from, or compute in a wider type "
               "(`precision.compute`)"
             : "resume with a lower `optimizer.lr`, or with `clip`";
}

void FiniteCheck::begin(int64_t step, bool isFinite) {
  checkedStep = step;
  finite = isFinite;
  firstStep = step + 1;
}

bool FiniteCheck::readsFinite() const {
  return std::isfinite(trainStep.loss()) && std::isfinite(trainStep.norm());
}

std::string FiniteCheck::describe() const {
  auto number = [](double value) {
    return std::isnan(value) ? std::string("nan") : fmt::format("{:.6g}", value);
  };
  std::string named; // losses that are not finite
  for (const auto &[name, value] : trainStep.losses())
    if (!std::isfinite(value))
      named += fmt::format("{}`{}` {}", named.empty() ? "" : ", ", name, number(value));
  return fmt::format("the loss is {}{} and the gradient's norm {}", number(trainStep.loss()),
                     named.empty() ? "" : " (" + named + ")", number(trainStep.norm()));
}

void FiniteCheck::setResult(int64_t step, bool isFinite) {
  checkedStep = step;
  finite = isFinite;
  nonFiniteInRow = finite ? 0 : nonFiniteInRow + 1;
  if (!finite)
    problem = describe();
}

bool FiniteCheck::mustEnd() const {
  return policy == OnNonFinite::Stop ||
         (policy == OnNonFinite::Skip && nonFiniteInRow >= maxSkipsInRow);
}

bool FiniteCheck::isFinite(int64_t step) {
  if (checkedStep != step) {
    executor.device().synchronize();
    setResult(step, !executor.anyRank(!readsFinite()));
  }
  return finite;
}

bool FiniteCheck::isUnreported(int64_t step) const {
  return checkedStep == step && !finite &&
         (mustEnd() || reports < (policy == OnNonFinite::Warn ? 1 : maxReports));
}

std::string FiniteCheck::describeGoodCheckpoint() const {
  const std::string good = findLatestFinite(runDirectory);
  return good.empty() ? "there is no earlier checkpoint; " : "'" + good + "' is good: ";
}

void FiniteCheck::handleNonFinite(int64_t step, Reporter &report, const NonFiniteCause &cause) {
  const std::string found = cause.found.empty() ? problem : problem + ": " + cause.found,
                    help = cause.help.empty() ? "" : "; " + cause.help;
  if (policy == OnNonFinite::Stop)
    throw NotFinite(fmt::format("step {}: {}, so the run stops (`on_nonfinite`); {}{}{}", step,
                                found, describeGoodCheckpoint(), describeRemedy(step), help));
  if (mustEnd())
    throw NotFinite(
        fmt::format("step {}: {}, as in all of the last {} steps, whose updates were "
                    "skipped, so the run stops (`on_nonfinite`); {}look for samples or weights "
                    "that are not finite, or resume with a lower `optimizer.lr`{}",
                    step, found, maxSkipsInRow, describeGoodCheckpoint(), help));
  if (!isUnreported(step))
    return;
  ++reports;
  if (policy == OnNonFinite::Skip)
    report.warn("step {}: {}, so its update is skipped{}{}", step, found, reports == 1 ? help : "",
                reports == maxReports ? "; further skips are not reported" : "");
  else
    report.warn("step {}: {}; later checkpoints are marked as not finite, and no good checkpoint "
                "is removed for them: {}{}",
                step, found, describeRemedy(step), help);
}

} // namespace titan::rt
