//===- Report.cpp - Results as text ---------------------------------------===//

#include "compiler/interpreter/Report.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;

double interpreter::getNorm(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

std::string interpreter::format(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", value);
  return text;
}

/// Elements from `at` on of the dimensions from `dim` on; advances `at`.
static void formatFrom(const HostTensor &tensor, size_t dim, size_t &at, std::string &text) {
  if (dim == tensor.shape.size()) {
    text += format(tensor.data[at++]);
    return;
  }
  text += '[';
  for (int64_t i = 0; i < tensor.shape[dim]; ++i) {
    text += i ? ", " : "";
    formatFrom(tensor, dim + 1, at, text);
  }
  text += ']';
}

std::string interpreter::format(const HostTensor &tensor) {
  std::string text;
  size_t at = 0;
  formatFrom(tensor, 0, at, text);
  return text;
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
