// Compares the results of two programs.

#include "compiler/interpreter/Compare.h"

#include "compiler/interpreter/Report.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace titan;
using namespace titan::interpreter;

double interpreter::getDeviation(const ir::HostTensor &a, const ir::HostTensor &b,
                                 double familyNorm) {
  if (a.shape != b.shape)
    return std::numeric_limits<double>::infinity();
  std::vector<double> difference(a.data.size());
  for (size_t i = 0; i < a.data.size(); ++i)
    difference[i] = a.data[i] == b.data[i] ? 0 : a.data[i] - b.data[i];
  double distance = getNorm(difference);
  return distance == 0 ? 0 : distance / (getNorm(b.data) + familyNorm / 100);
}

/// The results of a session. Results of one role are the stages of one stacked tensor, in order;
/// their slots are joined.
static std::vector<Result> joinStages(const Session &session) {
  std::vector<Result> joined;
  for (const Result &result : session.getResults()) {
    auto earlier = std::find_if(joined.begin(), joined.end(),
                                [&](const Result &one) { return one.role == result.role; });
    if (earlier == joined.end()) {
      joined.push_back(result);
      continue;
    }
    ir::HostTensor &whole = earlier->global;
    whole.shape.front() += result.global.shape.front();
    whole.data.insert(whole.data.end(), result.global.data.begin(), result.global.data.end());
  }
  return joined;
}

static const Result *find(const std::vector<Result> &results, const Role &role) {
  auto found = std::find_if(results.begin(), results.end(),
                            [&](const Result &one) { return one.role == role; });
  return found == results.end() ? nullptr : &*found;
}

/// The 2-norm of all results of each family.
static std::map<std::string, double> getFamilyNorms(const std::vector<Result> &results) {
  std::map<std::string, double> norms;
  for (const Result &result : results)
    if (!result.family.empty())
      norms[result.family] = std::hypot(norms[result.family], getNorm(result.global.data));
  return norms;
}

Deviation Comparison::getGreatest() const {
  auto isLess = [](const Deviation &a, const Deviation &b) { return a.value < b.value; };
  auto greatest = std::max_element(deviations.begin(), deviations.end(), isLess);
  return greatest == deviations.end() ? Deviation() : *greatest;
}

Comparison interpreter::compareResults(const Session &a, const Session &b) {
  Comparison comparison;
  const std::vector<Result> ours = joinStages(a), theirs = joinStages(b);
  std::map<std::string, double> familyNorms = getFamilyNorms(theirs);
  for (const Result &one : ours) {
    const Result *other = find(theirs, one.role);
    if (!other) {
      comparison.missing.push_back(one.role.str());
      continue;
    }
    double deviation = getDeviation(one.global, other->global, familyNorms[other->family]);
    if (std::isnan(deviation))
      deviation = std::numeric_limits<double>::infinity();
    comparison.deviations.push_back({one.role, deviation});
  }
  for (const Result &other : theirs)
    if (!find(ours, other.role))
      comparison.missing.push_back(other.role.str());
  return comparison;
}
