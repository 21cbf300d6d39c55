// A search for the degrees of a map and other settings with which a step takes least time.
//
// Best-first: the neighbours of the best point that has not been expanded are evaluated, until none
// of the best few points is left to expand. Two points are neighbours if a prime factor moves from
// one degree to another, or if one setting has the next value of its list. Plain data: an
// evaluation is a function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace titan::search {

struct Point {
  std::vector<int64_t> degrees; ///< of the axes; their product is the number of devices
  std::vector<size_t> values;   ///< for each setting, an index into its list of values
  auto operator<=>(const Point &) const = default;
};

struct Outcome {
  std::string refusal; ///< why the point is no program; empty: it is one
  double seconds = 0;  ///< of a step, per token or per step: the smaller the better
  double memory = 0;   ///< of a device: needed over available
  bool isBetterThan(const Outcome &other) const;
};

struct Result {
  Point point;
  Outcome outcome;
};

struct Limits {
  size_t evaluations = 120; ///< at most
  size_t expandedBest = 4;  ///< the search ends when so many of the best points are expanded
};

/// All evaluated points, best first: those that fit by time, then those that do not by memory, then
/// those that are refused. `numValues` is the length of each setting's list.
std::vector<Result> findBest(const std::vector<Point> &starts, const std::vector<size_t> &numValues,
                             const std::function<Outcome(const Point &)> &evaluate,
                             const Limits &limits = {});

/// Points from which to search: `degrees` if their product is `devices`; otherwise as much of each
/// degree as divides the devices, with the missing factor on all axes evenly, and on one axis, for
/// each axis; none without an axis. All settings have their first values.
std::vector<Point> makeStarts(const std::vector<int64_t> &degrees, int64_t devices,
                              size_t numSettings);

} // namespace titan::search
