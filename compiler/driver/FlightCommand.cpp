// `titanc flight OUT`: the last events of a run that did not finish.
#include "base/Error.h"
#include "base/flight/Diagnosis.h"
#include "compiler/driver/Commands.h"

#include <algorithm>
#include <iostream>

namespace titan::driver {

int flightCommand(const FlightOptions &options) {
  try {
    const std::vector<flight::Record> records = flight::readRun(options.directory);
    if (options.rank < 0) {
      std::cout << flight::describe(records);
      return 0;
    }
    auto record = std::ranges::find(records, options.rank, &flight::Record::rank);
    if (record == records.end())
      throw UserError("rank " + std::to_string(options.rank) + " has no record in '" +
                      options.directory + "'");
    std::cout << flight::describeEntries(*record, static_cast<size_t>(options.last));
    return 0;
  } catch (const UserError &error) {
    std::cerr << "titanc: " << error.what() << '\n';
    return 1;
  }
}

} // namespace titan::driver
