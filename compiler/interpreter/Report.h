// Results as text.
//
// Prints the results of a run by role, for people and for tests that compare text.
#pragma once

#include "compiler/interpreter/Format.h"
#include "compiler/interpreter/Session.h"

namespace titan::interpreter {

/// The 2-norm of all elements.
double getNorm(const std::vector<double> &values);

/// One line per result: a scalar as "output loss = 2.5", else "gradient table: norm 1.5, sum 0.25".
/// With `gather`, the values follow as nested lists.
void printResults(const Session &session, bool gather, llvm::raw_ostream &stream);

/// One line per result and rank with the rank's shard: "rank 1 value 0 = [3, 4]".
void printLocalResults(const Session &session, llvm::raw_ostream &stream);

} // namespace titan::interpreter
