//===- CheckProgram.h - What a program means, phase after phase -*- C++ -*-===//
//
// Takes one program through the compiler's phases and interprets it after each. What it computes
// must not change: the loss of the model and of the gradient phase have the same bits, everything
// later agrees to 1e-12 in float64 (sums are reordered), and the gradient is what differences say.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_TESTS_PROGRAMS_CHECKPROGRAM_H
#define TITAN_TESTS_PROGRAMS_CHECKPROGRAM_H

#include <cstdint>
#include <string>

namespace titan::programs {

struct Options {
  int64_t autoDegree = 2;   ///< of a mesh axis whose degree is auto
  int64_t vocab = 16;       ///< of programs in IR, which do not say it
  bool differences = true;  ///< hold gradients against differences
  double tolerance = 1e-12; ///< after the gradient phase
};

struct Verdict {
  enum Kind {
    Equal,   ///< `text` says how far apart the phases were
    Refused, ///< the compiler accepted no such program, with diagnostics
    Failed   ///< `text` begins with the phase
  } kind;
  std::string text;
};

/// Checks a `.titan` file with one run, or a `.mlir` file as the model phase gives it.
Verdict checkProgram(const std::string &file, const Options &options);

} // namespace titan::programs

#endif // TITAN_TESTS_PROGRAMS_CHECKPROGRAM_H
