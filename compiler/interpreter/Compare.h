// Comparison of two programs' results.
//
// A pass is correct if the program computes equal results before and after it. Results are compared
// by role, as global values, in the 2-norm, since reordered sums change bits. A tensor whose slots
// are in several stages is compared as a whole. A value may consist of rounding errors only, such
// as the gradient of a bias that cancels. Its deviation is therefore relative to its family, too:
// all gradients, all parameters, or all moments of one kind.
#pragma once

#include "compiler/interpreter/Session.h"

namespace titan::interpreter {

/// |a - b| / (|b| + familyNorm / 100) in the 2-norm; 0 if a equals b, NaN if either contains one.
/// `familyNorm` is the 2-norm of all values of the family of `b`.
double getDeviation(const ir::HostTensor &a, const ir::HostTensor &b, double familyNorm = 0);

struct Deviation {
  Role role;
  double value = 0; ///< NaN counts as infinite
};

struct Comparison {
  std::vector<Deviation> deviations; ///< of the results of both programs
  std::vector<std::string> missing;  ///< roles that only one of the programs has

  /// Without a role if the programs have no common results.
  Deviation getGreatest() const;
};

/// Compares the results of the last step. Tensors of one role but different sizes deviate
/// infinitely.
Comparison compareResults(const Session &a, const Session &b);

} // namespace titan::interpreter
