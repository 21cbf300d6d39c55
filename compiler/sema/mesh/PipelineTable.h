// The schedule of a pipeline as a file: `pipeline { schedule = "table.csv" }`.
#pragma once

#include "base/schedule/Schedule.h"
#include "compiler/sema/mesh/Mesh.h"

namespace titan::sema {

/// Whether the run names a file with its schedule.
bool namesTable(const Run &run);

/// The schedule in the run's file, verified, for the ranks and the stages of `axis`. Reports faults
/// at their cells. Nothing after a report.
std::optional<schedule::Schedule> readTable(const Run &run, const Axis &axis,
                                            SourceManager &sources, DiagnosticEngine &diags);

/// The text of the table for the program: forward and backward passes only. The program adds the
/// actions of communication and storage.
std::string writeSource(const schedule::Schedule &table);

} // namespace titan::sema
