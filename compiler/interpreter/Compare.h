//===- Compare.h - Two programs that must mean the same ---------*- C++ -*-===//
//
// A pass is right when the program computes the same before and after it. Results are compared by
// role, as global values, in the 2-norm: sums may be reordered, so bits may differ. A value that is
// nothing but rounding (the gradient of a bias that cancels) is measured by its kin: all gradients,
// all parameters, all moments of one sort.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_COMPARE_H
#define TITAN_COMPILER_INTERPRETER_COMPARE_H

#include "compiler/interpreter/Session.h"

namespace titan::interpreter {

/// |a - b| / (|b| + |kin| / 100) in the 2-norm, 0 where a equals b; NaN where either has one.
double getDeviation(const ir::HostTensor &a, const ir::HostTensor &b, double kin = 0);

struct Comparison {
  unsigned compared = 0;
  double greatest = 0;              ///< NaN counts as infinite
  std::string where;                ///< the role of the greatest deviation
  std::vector<std::string> missing; ///< roles that only one of the two has
};

/// Compares the last step's results. Tensors of one role and different sizes deviate infinitely.
Comparison compareResults(const Session &a, const Session &b);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_COMPARE_H
