#include "compiler/sema/elaboration/Elaboration.h"

namespace titan::sema {

namespace {

constexpr size_t maxIterations = 200'000; // of a program's repeats
constexpr size_t maxValues = 500'000;

} // namespace

bool Budget::mayRepeat(int64_t count, Location at) {
  if (static_cast<size_t>(count) <= maxIterations)
    return true;
  report(Code::TooLarge, at,
         "the program is too large: it has over " + std::to_string(maxIterations) +
             " iterations of repeats");
  return false;
}

bool Budget::withinBounds(Location at) {
  if (tooLarge)
    return false;
  std::string what = model.values.size() >= maxValues ? std::to_string(maxValues) + " operations"
                     : iterations >= maxIterations
                         ? std::to_string(maxIterations) + " iterations of repeats"
                     : work() >= maxWork ? std::to_string(maxWork) + " expressions to evaluate"
                                         : "";
  if (what.empty())
    return true;
  tooLarge = true;
  report(Code::TooLarge, at, "the program is too large: it has over " + what);
  return false;
}

} // namespace titan::sema
