// Checks a program after every phase.
//
// Runs one program through the phases and interprets it after each. The loss must be bitwise equal
// before and after the gradient phase. Later results agree to 1e-12 in float64, since sums are
// reordered. The gradient must agree with finite differences.
#pragma once

#include <cstdint>
#include <string>

namespace titan::programs {

struct Options {
  int64_t autoDegree = 2;   ///< of a mesh axis with degree auto
  int64_t vocab = 16;       ///< of programs in IR, which do not declare it
  bool differences = true;  ///< compare gradients with finite differences
  double tolerance = 1e-12; ///< after the gradient phase
};

struct Verdict {
  enum Kind {
    Equal,   ///< `text` states the greatest deviation
    Refused, ///< the compiler rejected the program, with diagnostics
    Failed   ///< `text` begins with the phase
  } kind;
  std::string text;
};

/// Checks a `.titan` file with one run, or a `.mlir` file as it is after the model phase.
Verdict checkProgram(const std::string &file, const Options &options);

} // namespace titan::programs
