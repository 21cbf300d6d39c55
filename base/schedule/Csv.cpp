#include "base/schedule/Csv.h"

#include <algorithm>
#include <map>

namespace titan::schedule {

static constexpr std::string_view overlapMark = ")OVERLAP_F_B";
static constexpr const char *cellForm =
    "a cell is empty or an action: a stage, one of F, I, W, B, SEND_F, RECV_F, SEND_B, RECV_B and "
    "a "
    "microbatch (`2F0`), or a stage and UNSHARD, RESHARD or REDUCE_GRAD (`1UNSHARD`)";

/// Splits off the text before the first `mark`, and the mark.
static std::string_view takeUntil(std::string_view &text, char mark) {
  const size_t end = std::min(text.find(mark), text.size());
  std::string_view before = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return before;
}

/// Without surrounding spaces, and without the byte order mark that some editors write.
static std::string_view trim(std::string_view text) {
  constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(byteOrderMark))
    text.remove_prefix(byteOrderMark.size());
  const size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

/// The actions of "(2F4;5B1)OVERLAP_F_B": a forward pass and a backward pass; else nothing.
static Row parseOverlap(std::string_view text) {
  text = text.substr(1, text.size() - 1 - overlapMark.size());
  Row actions;
  for (int i = 0; i < 2; ++i)
    if (std::optional<Action> action = parseAction(trim(takeUntil(text, ';'))))
      actions.push_back(*action);
  auto isBackward = [](Kind kind) { return kind == Kind::Backward || kind == Kind::Dgrad; };
  const bool isPair = actions.size() == 2 && text.empty() && actions[0].kind == Kind::Forward &&
                      isBackward(actions[1].kind);
  return isPair ? actions : Row();
}

static Row parseCell(std::string_view text) {
  if (text.starts_with("(") && text.ends_with(overlapMark))
    return parseOverlap(text);
  std::optional<Action> action = parseAction(text);
  return action ? Row{*action} : Row();
}

static Row readRow(std::string_view line, int rank, std::vector<ScheduleFault> &faults) {
  Row row;
  for (int cell = 0; !line.empty(); ++cell) {
    std::string_view text = trim(takeUntil(line, ','));
    if (text.empty())
      continue;
    Row actions = parseCell(text);
    if (actions.empty())
      faults.push_back({rank, cell, "`" + std::string(text) + "` is not an action", cellForm});
    for (Action &action : actions) {
      action.cell = cell;
      row.push_back(action);
    }
  }
  return row;
}

/// Replaces the faults of a first line without any action by one: the line is a header.
static void reportHeader(const Row &first, bool hasMore, std::vector<ScheduleFault> &faults) {
  if (!first.empty() || !hasMore || faults.empty())
    return;
  faults = {{0, -1, "the first line has no actions, and a table has no header",
             "remove the line: the first line has the actions of rank 0"}};
}

/// The rank of each stage: the one with most of its actions, so that an action on a wrong rank does
/// not move its stage.
static std::vector<int> findRanks(const Schedule &schedule) {
  std::vector<int> ranks(static_cast<size_t>(schedule.stages), -1);
  std::vector<size_t> most(ranks.size(), 0);
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::map<int, size_t> counts;
    for (const Action &action : schedule.ranks[rank])
      ++counts[action.stage];
    for (auto [stage, count] : counts)
      if (size_t &best = most[static_cast<size_t>(stage)]; count > best) {
        best = count;
        ranks[static_cast<size_t>(stage)] = static_cast<int>(rank);
      }
  }
  return ranks;
}

/// Leaves out actions whose stage or microbatch is so large that the table must be incomplete: each
/// stage has an action for each microbatch. This bounds the memory of later steps.
static void removeImpossible(Schedule &schedule, std::vector<ScheduleFault> &faults) {
  size_t count = 0;
  for (const Row &row : schedule.ranks)
    count += row.size();
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    std::erase_if(schedule.ranks[rank], [&](const Action &action) {
      const int largest = std::max(action.stage, action.microbatch);
      if (static_cast<size_t>(largest) < count)
        return false;
      faults.push_back({static_cast<int>(rank), action.cell,
                        "a table of " + std::to_string(count) + " actions is too small for `" +
                            toText(action) + "`",
                        "stages and microbatches count from 0, without gaps"});
      return true;
    });
}

Schedule readTable(std::string_view text, std::vector<ScheduleFault> &faults) {
  Schedule schedule;
  while (!text.empty()) {
    const int rank = static_cast<int>(schedule.ranks.size());
    schedule.ranks.push_back(readRow(takeUntil(text, '\n'), rank, faults));
    if (rank == 0)
      reportHeader(schedule.ranks[0], !text.empty(), faults);
  }
  removeImpossible(schedule, faults);
  for (const Row &row : schedule.ranks)
    for (const Action &action : row) {
      schedule.microbatches = std::max(schedule.microbatches, action.microbatch + 1);
      schedule.stages = std::max(schedule.stages, action.stage + 1);
    }
  schedule.rankOf = findRanks(schedule);
  return schedule;
}

static std::string writeCell(const Row &row, size_t first, size_t end) {
  if (end == first + 1)
    return toText(row[first]);
  std::string text;
  for (size_t i = first; i < end; ++i)
    text += (i == first ? "(" : ";") + toText(row[i]);
  return text.append(overlapMark);
}

std::string writeTable(const Schedule &schedule) {
  std::string text;
  for (const Row &row : schedule.ranks) {
    int written = 0; // commas of this line
    for (size_t i = 0, end = 0; i < row.size(); i = end) {
      end = findEndOfCell(row, i);
      text.append(static_cast<size_t>(row[i].cell - written), ',');
      text += writeCell(row, i, end);
      written = row[i].cell;
    }
    text += '\n';
  }
  return text;
}

CellText locateCell(std::string_view text, int rank, int cell) {
  std::string_view rest = text, found;
  for (int i = 0; i <= rank; ++i)
    found = takeUntil(rest, '\n');
  std::string_view line = found;
  for (int i = 0; i <= cell; ++i)
    found = takeUntil(line, ',');
  found = trim(found);
  return {static_cast<size_t>(found.data() - text.data()), found.size()};
}

} // namespace titan::schedule
