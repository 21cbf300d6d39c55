// Tables of pipeline schedules (base/schedule/Csv.h) as files, with diagnostics at their cells.
#pragma once

#include "base/schedule/Verify.h"
#include "compiler/diagnostics/Diagnostics.h"

namespace titan::sema {

/// Reports faults of a schedule at the cells of its file, or without locations if there is no file.
void reportFaults(const std::vector<schedule::ScheduleFault> &faults, Code code, FileId file,
                  DiagnosticEngine &diags);

/// The schedule of a table, not verified. Nothing after a report.
std::optional<schedule::Schedule> readScheduleFile(FileId file, DiagnosticEngine &diags);

} // namespace titan::sema
