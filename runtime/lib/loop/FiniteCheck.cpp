#include "FiniteCheck.h"

#include "base/Error.h"
#include "manifest/Manifest.h"

#include <cmath>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// How often a skipped step is told of.
constexpr int mostSkips = 10;

OnNonFinite policyOf(const Settings &settings) {
  const std::string word = settings.text("on_nonfinite", "stop");
  return word == "skip"   ? OnNonFinite::Skip
         : word == "warn" ? OnNonFinite::Warn
                          : OnNonFinite::Stop;
}

} // namespace

FiniteCheck::FiniteCheck(Session &session, const Settings &settings, std::string runDirectory)
    : session(session), policy(policyOf(settings)), runDirectory(std::move(runDirectory)),
      loss(find("loss")), norm(find("grad_norm")) {}

void FiniteCheck::begin(int64_t step, bool isFinite) {
  judged = step;
  finite = isFinite;
}

FiniteCheck::Scalar FiniteCheck::find(const char *name) const {
  const Tensor *tensor = session.find(Role::Output, name, "train");
  return {tensor, tensor ? session.dataOf(*tensor) : nullptr};
}

double FiniteCheck::read(const Scalar &scalar) const {
  if (!scalar.tensor)
    return 0;
  if (!session.device().isHost())
    return session.readScalar(scalar.tensor->name, "train");
  return scalar.tensor->info.dtype == DType::F64 ? *reinterpret_cast<const double *>(scalar.data)
                                                 : *reinterpret_cast<const float *>(scalar.data);
}

bool FiniteCheck::readsFinite() const {
  return std::isfinite(read(loss)) && std::isfinite(read(norm));
}

std::string FiniteCheck::describe() const {
  auto number = [](double value) {
    return std::isnan(value) ? std::string("nan") : fmt::format("{:.6g}", value);
  };
  return fmt::format("the loss is {} and the gradient's norm {}", number(read(loss)),
                     number(read(norm)));
}

void FiniteCheck::judge(int64_t step, bool isFinite) {
  begin(step, isFinite);
  if (!finite)
    problem = describe();
}

bool FiniteCheck::isFinite(int64_t step) {
  if (judged != step) {
    session.device().synchronize();
    judge(step, !session.anyRank(!readsFinite()));
  }
  return finite;
}

bool FiniteCheck::isNews(int64_t step) const {
  return judged == step && !finite && said < (policy == OnNonFinite::Warn ? 1 : mostSkips);
}

std::string FiniteCheck::describeGood() const {
  const std::string good = latestFinite(runDirectory);
  return good.empty() ? "there is no checkpoint of a step before; " : "'" + good + "' is good: ";
}

void FiniteCheck::answer(int64_t step, Reporter &report) {
  if (policy == OnNonFinite::Stop)
    throw NotFinite(fmt::format("step {}: {}, so the run stops (`on_nonfinite`); {}go on with a "
                                "lower `optimizer.lr`, or with `clip`",
                                step, problem, describeGood()));
  if (!isNews(step))
    return;
  ++said;
  if (policy == OnNonFinite::Skip)
    report.warn("step {}: {}, so its update is skipped{}", step, problem,
                said == mostSkips ? "; further ones are not said" : "");
  else
    report.warn("step {}: {}; checkpoints from here on are of no use, are marked so, and take the "
                "place of none that is good: go on from the one before with a lower "
                "`optimizer.lr`, or with `clip`",
                step, problem);
}

} // namespace titan::rt
