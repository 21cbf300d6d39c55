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

/// The table that the program contains. A program adds communication and storage itself.
std::string writeSource(const schedule::Schedule &table);

} // namespace titan::sema
