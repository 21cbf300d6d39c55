#include "compiler/sema/elaboration/Elaboration.h"

namespace titan::sema {

namespace {

constexpr size_t mostIterations = 200'000; // of a program's repeats
constexpr size_t mostValues = 500'000;

} // namespace

bool Budget::mayRepeat(int64_t count, Location at) {
  if (static_cast<size_t>(count) <= mostIterations)
    return true;
  report(Code::TooLarge, at,
         "the program is too large: it has over " + std::to_string(mostIterations) +
             " iterations of repeats");
  return false;
}

bool Budget::withinBounds(Location at) {
  if (tooLarge)
    return false;
  std::string what = model.values.size() >= mostValues ? std::to_string(mostValues) + " operations"
                     : iterations >= mostIterations
                         ? std::to_string(mostIterations) + " iterations of repeats"
                     : work() >= mostWork ? std::to_string(mostWork) + " expressions to evaluate"
                                          : "";
  if (what.empty())
    return true;
  tooLarge = true;
  report(Code::TooLarge, at, "the program is too large: it has over " + what);
  return false;
}

} // namespace titan::sema
