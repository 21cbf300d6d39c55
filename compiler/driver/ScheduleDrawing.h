// Drawings of a schedule: a row per rank, time from left to right. They show only computation.
#pragma once

#include "base/schedule/Replay.h"

#include "llvm/Support/raw_ostream.h"

namespace titan::driver {

/// Draws with letters: `0F1-` is an action, `.` is idle time. Lines longer than `width` continue in
/// another block of lines.
void drawGrid(llvm::raw_ostream &out, const schedule::Schedule &schedule,
              const schedule::Replay &times, size_t width, bool inColor);

/// An SVG document.
std::string drawSvg(const schedule::Schedule &schedule, const schedule::Replay &times);

/// The scale of a picture: the least duration of computation in it; 0 without computation.
double findShortestAction(const schedule::Schedule &schedule, const schedule::Replay &times);

} // namespace titan::driver
