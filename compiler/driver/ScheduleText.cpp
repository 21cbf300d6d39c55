#include "compiler/driver/ScheduleText.h"

#include "base/schedule/Memory.h"
#include "base/text/Counted.h"
#include "compiler/driver/RunSummary.h"
#include "compiler/driver/TextTable.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <iterator>

namespace titan::driver {

using namespace schedule;

std::string formatPercent(double fraction) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f %%", 100 * fraction);
  return text;
}

std::string formatNumber(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3f", number);
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

/// A count of stash slots as a number of microbatches of all layers of a rank.
static double toActivations(int slots, const Schedule &schedule) {
  return slots * double(schedule.ranks.size()) / schedule.stages;
}

double computePeakActivations(const Schedule &schedule) {
  const std::vector<int> peaks = assignStashSlots(schedule).peakOfRank;
  return toActivations(*std::max_element(peaks.begin(), peaks.end()), schedule);
}

/// One line a rank: its stages, their stash slots, its idle time, and its memory where it is known.
static void printRanks(const Schedule &schedule, const Replay &times,
                       const std::vector<int64_t> &memory) {
  using Side = TextTable::Side;
  std::vector<Side> sides = {Side::Right, Side::Left,  Side::Left,
                             Side::Right, Side::Right, Side::Right};
  std::vector<std::string> head = {"rank", "stages", "stash slots", "peak activations",
                                   "idle", "of step"};
  if (!memory.empty()) {
    sides.push_back(Side::Right);
    head.emplace_back("bytes");
  }
  TextTable table(std::move(sides));
  table.add(std::move(head));
  const StashSlots slots = assignStashSlots(schedule);
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::string stages, counts;
    for (size_t stage = 0; stage < schedule.rankOf.size(); ++stage)
      if (schedule.rankOf[stage] == static_cast<int>(rank)) {
        stages += (stages.empty() ? "" : " ") + std::to_string(stage);
        counts += (counts.empty() ? "" : " ") + std::to_string(slots.count[stage]);
      }
    std::vector<std::string> cells = {std::to_string(rank),
                                      stages,
                                      counts,
                                      formatNumber(toActivations(slots.peakOfRank[rank], schedule)),
                                      formatNumber(times.idle(rank)),
                                      formatPercent(times.idle(rank) / times.step)};
    if (!memory.empty())
      cells.push_back(groupDigits(memory[rank]));
    table.add(std::move(cells));
  }
  table.print(llvm::outs());
}

void printSummary(const std::string &name, const Schedule &schedule, const Replay &times,
                  const std::string &unit, const std::vector<int64_t> &memory) {
  llvm::outs() << name << ": " << counted(std::ssize(schedule.ranks), "rank") << ", "
               << counted(schedule.stages, "stage") << ", "
               << counted(schedule.microbatches, "microbatch", "es") << "\nbubble "
               << formatPercent(times.bubble()) << " of the step, step " << formatNumber(times.step)
               << unit << ", peak activations " << formatNumber(computePeakActivations(schedule))
               << '\n';
  printRanks(schedule, times, memory);
}

} // namespace titan::driver
