#include "WeightTable.h"

#include "base/text/Counted.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

using Outcome = WeightRow::Outcome;

const char *getName(Outcome outcome) {
  switch (outcome) {
  case Outcome::Loaded:
    return "loaded";
  case Outcome::Partial:
    return "partial";
  case Outcome::Fresh:
    return "fresh";
  case Outcome::Ignored:
    return "ignored";
  }
  return "";
}

/// The tensors of a source with these outcomes, each once.
std::vector<std::string> selectTensors(std::span<const WeightRow> rows, const std::string &source,
                                       std::initializer_list<Outcome> outcomes) {
  std::vector<std::string> names;
  for (const WeightRow &row : rows)
    if (row.source == source &&
        std::find(outcomes.begin(), outcomes.end(), row.outcome) != outcomes.end())
      names.push_back(row.tensor);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> selectParameters(std::span<const WeightRow> rows, Outcome outcome) {
  std::vector<std::string> names;
  for (const WeightRow &row : rows)
    if (row.outcome == outcome)
      names.push_back(row.parameter);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

} // namespace

std::string listSome(const std::vector<std::string> &names) {
  constexpr size_t most = 5;
  const std::span<const std::string> first(names.data(), std::min(most, names.size()));
  std::string text = fmt::format("'{}'", fmt::join(first, "', '"));
  if (names.size() > most)
    text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::vector<std::string> summarise(std::span<const WeightRow> rows,
                                   std::span<const WeightSource> sources) {
  std::vector<std::string> notes;
  for (const WeightSource &source : sources) {
    const auto read = selectTensors(rows, source.text(), {Outcome::Loaded, Outcome::Partial});
    notes.push_back(
        fmt::format("read {} from '{}'", counted(std::ssize(read), "tensor"), source.text()));
    if (const auto ignored = selectTensors(rows, source.text(), {Outcome::Ignored});
        !ignored.empty())
      notes.push_back(fmt::format("note: tensors of '{}' that the program does not need: {}",
                                  source.text(), listSome(ignored)));
  }
  if (const auto fresh = selectParameters(rows, Outcome::Fresh); !fresh.empty())
    notes.push_back(fmt::format("note: {} with initial values, because no source has them: {}",
                                counted(std::ssize(fresh), "parameter"), listSome(fresh)));
  if (const auto partial = selectParameters(rows, Outcome::Partial); !partial.empty())
    notes.push_back(fmt::format("note: {} longer than stored, with initial values at the end: {}",
                                counted(std::ssize(partial), "parameter"), listSome(partial)));
  return notes;
}

std::string toText(std::span<const WeightRow> rows) {
  std::string text = "outcome\tparameter\ttensor\tsource\treason\n";
  for (const WeightRow &row : rows)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n", getName(row.outcome), row.parameter, row.tensor,
                        row.source, row.reason);
  return text;
}

} // namespace titan::rt
