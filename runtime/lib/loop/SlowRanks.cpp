#include "SlowRanks.h"

#include <algorithm>

#include <fmt/format.h>

namespace titan::rt {

namespace {

constexpr double slower = 1.25;    // than the median of the others
constexpr int64_t additions = 3;   // in a row
constexpr double shortest = 0.002; // seconds per step; smaller differences are those of the system

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace

std::optional<SlowRanks::Slowest> SlowRanks::findSlowest(const std::vector<double> &seconds) const {
  std::optional<Slowest> slowest;
  for (size_t rank = 0; rank < seconds.size(); ++rank) {
    std::vector<double> others;
    for (size_t other = 0; other < seconds.size(); ++other)
      if (other != rank && stage[other] == stage[rank])
        others.push_back(seconds[other]);
    if (others.empty())
      continue;
    const double ofOthers = median(std::move(others));
    if (seconds[rank] > slower * ofOthers && seconds[rank] > ofOthers + shortest &&
        (!slowest || seconds[rank] - ofOthers > slowest->seconds - slowest->ofOthers))
      slowest = {static_cast<int>(rank), seconds[rank], ofOthers};
  }
  return slowest;
}

std::optional<SlowRanks::Note> SlowRanks::add(int64_t step, const std::vector<double> &seconds) {
  const int64_t first = previousStep + 1;
  previousStep = step;
  const std::optional<Slowest> slowest = findSlowest(seconds);
  if (!slowest || slowest->rank != current.rank) {
    current = {slowest ? slowest->rank : -1, first, step, 0, 0};
    times = 0;
  }
  if (!slowest)
    return std::nullopt;
  ++times;
  current.last = step;
  current.seconds += slowest->seconds;
  current.ofOthers += slowest->ofOthers;
  if (times < additions || noted == current.rank)
    return std::nullopt;
  noted = current.rank;
  Note note = current;
  note.seconds /= static_cast<double>(times);
  note.ofOthers /= static_cast<double>(times);
  return note;
}

std::string describe(const SlowRanks::Note &note) {
  return fmt::format(
      "rank {} is slower than the others: in steps {} to {} it was busy for {:.3g} s "
      "per step, the others for {:.3g} s, and they waited for it the rest of the time",
      note.rank, note.first, note.last, note.seconds, note.ofOthers);
}

} // namespace titan::rt
