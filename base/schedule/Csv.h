// Schedules as tables of comma-separated values, in the form of torch.distributed.pipelining: one
// line a rank, one action a cell, empty cells for idle time. `(2F4;5B1)OVERLAP_F_B` is a forward
// and a backward pass that overlap.
//
// The table has no header. The number of stages, of microbatches and the rank of each stage follow
// from the actions; a stage is on the rank that has most of its actions.
//
// Source: `_dump_csv` and `_load_csv` in torch/distributed/pipelining/schedules.py of PyTorch.
#pragma once

#include "base/schedule/Schedule.h"

namespace titan::schedule {

/// Reads a table. Cells that are no action are left out and reported in `faults`. The schedule has
/// the form of its table, but `verify` decides whether it can run.
Schedule readTable(std::string_view text, std::vector<ScheduleFault> &faults);

/// Writes a table, with idle cells where a row has no action.
std::string writeTable(const Schedule &schedule);

/// The bytes of a cell in the text of a table, without surrounding spaces.
struct CellText {
  size_t offset = 0, length = 0;
};
/// The text of a cell; of the whole line for column -1.
CellText locateCell(std::string_view text, int rank, int cell);

} // namespace titan::schedule
