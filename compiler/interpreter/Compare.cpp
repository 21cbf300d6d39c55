//===- Compare.cpp - Two programs that must mean the same -----------------===//

#include "compiler/interpreter/Compare.h"

#include "compiler/interpreter/Report.h"

#include <cmath>
#include <limits>

using namespace titan;
using namespace titan::interpreter;

double interpreter::getDeviation(const ir::HostTensor &a, const ir::HostTensor &b) {
  if (a.shape != b.shape)
    return std::numeric_limits<double>::infinity();
  std::vector<double> difference(a.data.size());
  for (size_t i = 0; i < a.data.size(); ++i)
    difference[i] = a.data[i] == b.data[i] ? 0 : a.data[i] - b.data[i];
  double norm = getNorm(b.data);
  return norm > 0 || std::isnan(norm) ? getNorm(difference) / norm : getNorm(difference);
}

Comparison interpreter::compareResults(const Session &a, const Session &b) {
  Comparison comparison;
  for (const Result &one : a.getResults()) {
    const Result *other = b.find(one.role.kind, one.role.name);
    if (!other) {
      comparison.missing.push_back(one.role.str());
      continue;
    }
    ++comparison.compared;
    double deviation = getDeviation(one.global, other->global);
    if (std::isnan(deviation))
      deviation = std::numeric_limits<double>::infinity();
    if (comparison.where.empty() || deviation > comparison.greatest) {
      comparison.greatest = deviation;
      comparison.where = one.role.str();
    }
  }
  for (const Result &other : b.getResults())
    if (!a.find(other.role.kind, other.role.name))
      comparison.missing.push_back(other.role.str());
  return comparison;
}
