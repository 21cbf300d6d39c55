#include "base/schedule/Source.h"

#include "base/schedule/Csv.h"

namespace titan::schedule {

bool isTable(std::string_view source) {
  return source.find('\n') != std::string_view::npos;
}

static Schedule makeFromTable(std::string_view text) {
  std::vector<ScheduleFault> faults;
  Schedule schedule = readTable(text, faults);
  if (!faults.empty())
    throw ScheduleError(faults.front().message, faults.front().remedy);
  return schedule;
}

Schedule makeSchedule(std::string_view source, const Sizes &sizes) {
  if (isTable(source))
    return makeFromTable(source);
  const Algorithm *algorithm = findAlgorithm(source);
  if (!algorithm)
    throw ScheduleError("there is no schedule `" + std::string(source) + "`",
                        "name one of those that `titanc schedule all` compares");
  return generate(*algorithm, sizes);
}

bool hasWgrad(std::string_view source) {
  auto isWgrad = [](Kind kind) { return kind == Kind::Wgrad; };
  if (isTable(source))
    return hasKind(makeFromTable(source), isWgrad);
  // The kinds of an algorithm's actions do not depend on the sizes.
  const Algorithm *algorithm = findAlgorithm(source);
  return algorithm && hasKind(generate(*algorithm, {2, algorithm->stagesPerRank, 4}), isWgrad);
}

} // namespace titan::schedule
