// Draws schedules as text for the terminal.
#include "compiler/driver/ScheduleDrawing.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace titan::driver {

using namespace schedule;

double findShortestAction(const Schedule &schedule, const Replay &times) {
  double shortest = 0;
  for (size_t rank = 0; rank < times.spans.size(); ++rank)
    for (const Span &span : times.spans[rank])
      if (const double time = span.end - span.start; time > 0)
        shortest = shortest == 0 ? time : std::min(shortest, time);
  return shortest;
}

namespace {

/// A character of a line, with the kind of its action.
struct Letter {
  char letter = '.';
  std::optional<Kind> kind = std::nullopt;
};
using Line = std::vector<Letter>;

std::string buildLabel(const Row &row, size_t first) {
  std::string label;
  for (size_t i = first; i < findEndOfCell(row, first); ++i)
    label += (label.empty() ? "" : ";") + toText(row[i]);
  return label;
}

/// The time of one character, so that the shortest action has space for the longest label.
double computeLetterTime(const Schedule &schedule, const Replay &times) {
  size_t longest = 0;
  for (const Row &row : schedule.ranks)
    for (size_t i = 0; i < row.size(); ++i)
      if (isCompute(row[i].kind))
        longest = std::max(longest, buildLabel(row, i).size());
  constexpr double mostLetters = 20'000; // of a line: very different times cut labels off
  return std::max(findShortestAction(schedule, times) / static_cast<double>(longest + 1),
                  times.step / mostLetters);
}

Line makeLine(const Row &row, const std::vector<Span> &spans, double letterTime, size_t length) {
  auto column = [&](double time) { return static_cast<size_t>(std::lround(time / letterTime)); };
  Line line(length);
  for (size_t i = 0; i < row.size(); i = findEndOfCell(row, i)) {
    if (!isCompute(row[i].kind))
      continue;
    const std::string label = buildLabel(row, i);
    const size_t begin = column(spans[i].start), end = std::min(column(spans[i].end), length);
    for (size_t k = begin; k < end; ++k)
      line[k] = {k - begin < label.size() ? label[k - begin] : '-', row[i].kind};
  }
  return line;
}

/// SGR codes of ECMA-48.
llvm::StringRef getColor(std::optional<Kind> kind) {
  if (!kind)
    return "\033[2m"; // faint
  switch (*kind) {
  case Kind::Forward:
    return "\033[34m"; // blue
  case Kind::Wgrad:
    return "\033[32m"; // green
  case Kind::Dgrad:
    return "\033[33m"; // yellow
  default:
    return "\033[31m"; // red
  }
}

void printLetters(llvm::raw_ostream &out, llvm::ArrayRef<Letter> letters, bool inColor) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const bool isChange = i == 0 || letters[i].kind != letters[i - 1].kind;
    if (inColor && isChange)
      out << "\033[0m" << getColor(letters[i].kind);
    out << letters[i].letter;
  }
  out << (inColor ? "\033[0m\n" : "\n");
}

} // namespace

void drawGrid(llvm::raw_ostream &out, const Schedule &schedule, const Replay &times, size_t width,
              bool inColor) {
  const double unit = computeLetterTime(schedule, times);
  if (unit == 0)
    return;
  const size_t length = static_cast<size_t>(std::lround(times.step / unit));
  std::vector<Line> lines;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    lines.push_back(makeLine(schedule.ranks[rank], times.spans[rank], unit, length));
  const size_t digits = std::to_string(lines.size() - 1).size();
  // The letters of a line after the number of the rank and a space; at least 20.
  const size_t step = std::max<size_t>(width, digits + 21) - digits - 1;
  for (size_t begin = 0; begin < length; begin += step) {
    for (size_t rank = 0; rank < lines.size(); ++rank) {
      const std::string number = std::to_string(rank);
      out.indent(static_cast<unsigned>(digits - number.size())) << number << ' ';
      printLetters(out, llvm::ArrayRef(lines[rank]).slice(begin, std::min(step, length - begin)),
                   inColor);
    }
    out << '\n';
  }
}

} // namespace titan::driver
