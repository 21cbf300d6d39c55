#include "compiler/search/MapSearch.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace titan::search {
namespace {

int64_t findPrimeFactor(int64_t number) {
  for (int64_t factor = 2; factor * factor <= number; ++factor)
    if (number % factor == 0)
      return factor;
  return number;
}

std::vector<int64_t> listPrimeFactors(int64_t number) {
  std::vector<int64_t> factors;
  for (; number > 1; number /= factors.back())
    factors.push_back(findPrimeFactor(number));
  factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
  return factors;
}

std::vector<Point> listNeighbours(const Point &point, const std::vector<size_t> &numValues) {
  std::vector<Point> neighbours;
  for (size_t from = 0; from < point.degrees.size(); ++from)
    for (int64_t factor : listPrimeFactors(point.degrees[from]))
      for (size_t to = 0; to < point.degrees.size(); ++to) {
        if (to == from)
          continue;
        Point next = point;
        next.degrees[from] /= factor;
        next.degrees[to] *= factor;
        neighbours.push_back(std::move(next));
      }
  for (size_t i = 0; i < point.values.size(); ++i) {
    Point next = point;
    if (++next.values[i] < numValues[i])
      neighbours.push_back(next);
    next = point;
    if (next.values[i]-- > 0)
      neighbours.push_back(next);
  }
  return neighbours;
}

class Search {
public:
  Search(const std::vector<size_t> &numValues,
         const std::function<Outcome(const Point &)> &evaluate, const Limits &limits)
      : numValues(numValues), evaluate(evaluate), limits(limits) {}

  void evaluateOnce(const Point &point) {
    if (outcomes.size() < limits.evaluations && !outcomes.count(point))
      outcomes.emplace(point, evaluate(point));
  }

  /// Expands the best point that is left to expand. False if there is none.
  bool expand() {
    if (outcomes.size() >= limits.evaluations)
      return false;
    std::vector<Result> best = getResults();
    best.resize(std::min(best.size(), limits.expandedBest));
    for (const Result &result : best)
      if (expanded.insert(result.point).second) {
        for (const Point &neighbour : listNeighbours(result.point, numValues))
          evaluateOnce(neighbour);
        return true;
      }
    return false;
  }

  std::vector<Result> getResults() const {
    std::vector<Result> results;
    for (const auto &[point, outcome] : outcomes)
      results.push_back({point, outcome});
    std::stable_sort(results.begin(), results.end(), [](const Result &a, const Result &b) {
      return a.outcome.isBetterThan(b.outcome);
    });
    return results;
  }

private:
  const std::vector<size_t> &numValues;
  const std::function<Outcome(const Point &)> &evaluate;
  const Limits &limits;
  std::map<Point, Outcome> outcomes;
  std::set<Point> expanded;
};

/// `degrees` with the prime factors of `missing`, largest first, each on the smallest degree.
std::vector<int64_t> balance(std::vector<int64_t> degrees, int64_t missing) {
  std::vector<int64_t> factors;
  for (; missing > 1; missing /= factors.back())
    factors.push_back(findPrimeFactor(missing));
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor)
    *std::min_element(degrees.begin(), degrees.end()) *= *factor;
  return degrees;
}

} // namespace

bool Outcome::isBetterThan(const Outcome &other) const {
  auto getRank = [](const Outcome &outcome) {
    const bool isRefused = !outcome.refusal.empty(), fits = outcome.memory <= 1;
    return std::tuple(isRefused, !fits, isRefused ? 0 : fits ? outcome.seconds : outcome.memory);
  };
  return getRank(*this) < getRank(other);
}

std::vector<Result> findBest(const std::vector<Point> &starts, const std::vector<size_t> &numValues,
                             const std::function<Outcome(const Point &)> &evaluate,
                             const Limits &limits) {
  Search search(numValues, evaluate, limits);
  for (const Point &start : starts)
    search.evaluateOnce(start);
  while (search.expand()) {
  }
  return search.getResults();
}

std::vector<Point> makeStarts(const std::vector<int64_t> &degrees, int64_t devices,
                              size_t numSettings) {
  if (degrees.empty())
    return {};
  std::vector<int64_t> common = degrees;
  int64_t missing = devices;
  for (int64_t &degree : common) { // as much of each degree as divides the devices
    while (missing % degree != 0)
      degree /= findPrimeFactor(degree);
    missing /= degree;
  }
  const std::vector<size_t> values(numSettings, 0);
  if (missing == 1)
    return {{common, values}};
  std::vector<Point> starts{{balance(common, missing), values}};
  for (size_t axis = 0; axis < common.size(); ++axis) {
    starts.push_back({common, values});
    starts.back().degrees[axis] *= missing;
  }
  return starts;
}

} // namespace titan::search
