//===- Compare.cpp - Comparison of two programs' results ------------------===//

#include "compiler/interpreter/Compare.h"

#include "compiler/interpreter/Report.h"

#include <cmath>
#include <limits>

using namespace titan;
using namespace titan::interpreter;

double interpreter::getDeviation(const ir::HostTensor &a, const ir::HostTensor &b, double kin) {
  if (a.shape != b.shape)
    return std::numeric_limits<double>::infinity();
  std::vector<double> difference(a.data.size());
  for (size_t i = 0; i < a.data.size(); ++i)
    difference[i] = a.data[i] == b.data[i] ? 0 : a.data[i] - b.data[i];
  double distance = getNorm(difference);
  return distance == 0 ? 0 : distance / (getNorm(b.data) + kin / 100);
}

/// The 2-norm of all results of each family.
static std::map<std::string, double> getFamilyNorms(const Session &session) {
  std::map<std::string, double> norms;
  for (const Result &result : session.getResults())
    if (!result.family.empty())
      norms[result.family] = std::hypot(norms[result.family], getNorm(result.global.data));
  return norms;
}

Comparison interpreter::compareResults(const Session &a, const Session &b) {
  Comparison comparison;
  std::map<std::string, double> kin = getFamilyNorms(b);
  for (const Result &one : a.getResults()) {
    const Result *other = b.find(one.role);
    if (!other) {
      comparison.missing.push_back(one.role.str());
      continue;
    }
    ++comparison.compared;
    double deviation = getDeviation(one.global, other->global, kin[other->family]);
    if (std::isnan(deviation))
      deviation = std::numeric_limits<double>::infinity();
    if (comparison.where.empty() || deviation > comparison.greatest) {
      comparison.greatest = deviation;
      comparison.where = one.role.str();
    }
  }
  for (const Result &other : b.getResults())
    if (!a.find(other.role))
      comparison.missing.push_back(other.role.str());
  return comparison;
}
