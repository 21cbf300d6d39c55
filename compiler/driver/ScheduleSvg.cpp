// Draws schedules as scalable vector graphics.
#include "compiler/driver/ScheduleDrawing.h"

#include "llvm/Support/Format.h"

namespace titan::driver {

using namespace schedule;

namespace {

constexpr double rowHeight = 24, barHeight = 20, labelWidth = 60, margin = 8;

llvm::StringRef getFill(Kind kind) {
  switch (kind) {
  case Kind::Forward:
    return "#7aa6dc";
  case Kind::Wgrad:
    return "#8cc084";
  case Kind::Dgrad:
    return "#f2c14e";
  default:
    return "#e8896a";
  }
}

class SvgWriter {
public:
  SvgWriter(const Schedule &schedule, const Replay &times) : schedule(schedule), times(times) {
    constexpr double leastWidth = 34,
                     mostWidth = 100'000; // of an action, of the picture; in pixels
    const double shortest = findShortestAction(schedule, times);
    scale = shortest > 0 ? std::min(leastWidth / shortest, mostWidth / times.step) : 0;
  }

  std::string run() {
    const double width = labelWidth + times.step * scale + 2 * margin;
    const double height = rowHeight * double(schedule.ranks.size()) + 2 * margin;
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << number(width) << "\" height=\""
        << number(height) << "\" font-family=\"sans-serif\" font-size=\"11\">\n"
        << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
      drawRank(rank);
    out << "</svg>\n";
    return std::move(text);
  }

private:
  static std::string number(double value) {
    std::string digits;
    llvm::raw_string_ostream(digits) << llvm::format("%.2f", value);
    return digits;
  }

  void drawRank(size_t rank) {
    const Row &row = schedule.ranks[rank];
    const double top = margin + rowHeight * double(rank);
    drawText(margin, top + barHeight * 0.7, "start", "rank " + std::to_string(rank));
    for (size_t i = 0, end = 0; i < row.size(); i = end) {
      end = findEndOfCell(row, i);
      const double height = barHeight / double(end - i); // overlapped actions are below one another
      for (size_t k = i; k < end; ++k)
        if (isCompute(row[k].kind))
          drawAction(row[k], times.spans[rank][k], top + height * double(k - i), height);
    }
  }

  void drawAction(const Action &action, const Span &span, double top, double height) {
    const double left = margin + labelWidth + span.start * scale;
    const double width = (span.end - span.start) * scale;
    const std::string label = toText(action);
    out << "<rect x=\"" << number(left) << "\" y=\"" << number(top) << "\" width=\""
        << number(width) << "\" height=\"" << number(height) << "\" fill=\"" << getFill(action.kind)
        << "\" fill-opacity=\"" << number(getOpacity(action.stage)) << "\" stroke=\"white\"><title>"
        << label << "</title></rect>\n";
    drawText(left + width / 2, top + height * 0.7, "middle", label);
  }

  /// The stages of a rank differ in opacity.
  double getOpacity(int stage) const {
    const int ranks = static_cast<int>(schedule.ranks.size());
    return stage / ranks % 2 == 0 ? 1 : 0.55;
  }

  void drawText(double left, double base, llvm::StringRef alignment, const std::string &label) {
    out << "<text x=\"" << number(left) << "\" y=\"" << number(base) << "\" text-anchor=\""
        << alignment << "\">" << label << "</text>\n";
  }

  const Schedule &schedule;
  const Replay &times;
  double scale; ///< pixels per unit of time
  std::string text;
  llvm::raw_string_ostream out{text};
};

} // namespace

std::string drawSvg(const Schedule &schedule, const Replay &times) {
  return SvgWriter(schedule, times).run();
}

} // namespace titan::driver
