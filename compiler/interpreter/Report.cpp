// Prints the results of a session.

#include "compiler/interpreter/Report.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace titan;
using namespace titan::interpreter;

double interpreter::getNorm(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

void interpreter::printResults(const Session &session, bool gather, llvm::raw_ostream &stream) {
  for (const Result &result : session.getResults()) {
    stream << result.role.str();
    if (result.type.getRank() == 0) {
      stream << " = " << format(result.global) << '\n';
      continue;
    }
    double sum = 0;
    for (double value : result.global.data)
      sum += value;
    stream << ": norm " << format(getNorm(result.global.data)) << ", sum " << format(sum) << '\n';
    if (gather)
      stream << "  " << format(result.global) << '\n';
  }
}

void interpreter::printLocalResults(const Session &session, llvm::raw_ostream &stream) {
  for (size_t i = 0; i < session.getResults().size(); ++i)
    for (size_t rank = 0; rank < session.getLocalResults().size(); ++rank)
      stream << "rank " << rank << ' ' << session.getResults()[i].role.str() << " = "
             << format(*session.getLocalResults()[rank][i]) << '\n';
}
