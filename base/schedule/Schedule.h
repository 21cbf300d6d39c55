// A pipeline schedule: for each rank, its actions in order. Plain data, because the compiler
// verifies it and plans memory from it, and interpreter and runtime execute it.
//
// The end of a row is a barrier: the optimizer follows when every rank has finished its row.
#pragma once

#include "base/Error.h"
#include "base/schedule/Action.h"

#include <vector>

namespace titan::schedule {

/// The actions of one rank, by ascending cell.
using Row = std::vector<Action>;

struct Schedule {
  int stages = 0, microbatches = 0;
  std::vector<int> rankOf; ///< the rank of each stage; -1 if no rank has it
  std::vector<Row> ranks;

  int getRankOfStage(int stage) const { return rankOf[static_cast<size_t>(stage)]; }
};

/// An error in a schedule, with its position in the table.
struct ScheduleFault {
  int rank = -1; ///< row of the table; -1: the whole table
  int cell = -1; ///< column of the table; -1: the whole row
  std::string message;
  std::string remedy;
};

/// A request that no schedule can satisfy.
class ScheduleError : public UserError {
public:
  ScheduleError(const std::string &message, std::string remedy)
      : UserError(message), remedy(std::move(remedy)) {}

  const std::string remedy;
};

/// How consecutive stages are assigned to ranks.
enum class Placement {
  Looped, ///< stage s on rank s % ranks; with one stage a rank, linear
  V,      ///< down and up again: with 2 ranks, stages 0 and 3 on rank 0, 1 and 2 on rank 1
};
/// The rank of each stage.
std::vector<int> assignStages(int ranks, int stagesPerRank, Placement placement);

/// Appends an action in a new cell.
void append(Row &row, Action action);
/// The index after the last action of the cell of action `first`.
size_t findEndOfCell(const Row &row, size_t first);
/// Appends the actions from `first` to `end`, which are one cell of `from`.
void appendCell(Row &row, const Row &from, size_t first, size_t end);
/// Whether any action is of a kind with this property.
bool hasKind(const Schedule &schedule, bool (*property)(Kind));

} // namespace titan::schedule
