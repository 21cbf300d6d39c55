// Reads the table of a pipeline schedule from a file, and reports its faults at its cells.
#include "compiler/sema/modules/ScheduleFile.h"

#include "base/schedule/Csv.h"

#include <algorithm>

namespace titan::sema {

void reportFaults(const std::vector<schedule::ScheduleFault> &faults, Code code, FileId file,
                  DiagnosticEngine &diags) {
  const SourceManager &sources = diags.sourceManager();
  for (const schedule::ScheduleFault &fault : faults) {
    Location location;
    if (file != FileId::none) {
      const schedule::CellText cell =
          schedule::locateCell(sources.text(file), std::max(fault.rank, 0), fault.cell);
      location = sources.locate(file, cell.offset, cell.length);
    }
    diags.report(code, location, fault.message).help(fault.remedy);
  }
}

std::optional<schedule::Schedule> readScheduleFile(FileId file, DiagnosticEngine &diags) {
  std::vector<schedule::ScheduleFault> faults;
  schedule::Schedule schedule = schedule::readTable(diags.sourceManager().text(file), faults);
  reportFaults(faults, Code::NotAnAction, file, diags);
  return faults.empty() ? std::optional(std::move(schedule)) : std::nullopt;
}

} // namespace titan::sema
