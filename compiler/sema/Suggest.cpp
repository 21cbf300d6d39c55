#include "compiler/sema/Suggest.h"

#include <algorithm>

namespace titan::sema {
namespace {

/// Optimal string alignment distance: insertions, deletions, replacements, swaps of neighbours.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t differs = a[i - 1] != b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

} // namespace

std::string nearestName(std::string_view name, const std::vector<std::string> &candidates) {
  constexpr size_t longest = 64; // beyond that nobody mistypes by a letter
  std::string best;
  size_t bestDistance = std::max<size_t>(1, name.size() / 3) + 1, bestPrefix = 0;
  constexpr size_t mostCandidates = 10'000; // a suggestion is not worth more time
  if (name.empty() || name.size() > longest || candidates.size() > mostCandidates)
    return best;
  for (const std::string &candidate : candidates) {
    if (candidate.size() > longest || candidate == name)
      continue;
    size_t distance = editDistance(name, candidate);
    // Of two equally near names, the one that begins alike was meant.
    auto end = std::mismatch(name.begin(), name.end(), candidate.begin(), candidate.end());
    size_t prefix = static_cast<size_t>(end.first - name.begin());
    bool better = distance < bestDistance ||
                  (distance == bestDistance && prefix > bestPrefix && !best.empty());
    if (better && (distance < name.size() || prefix == name.size())) {
      bestDistance = distance;
      bestPrefix = prefix;
      best = candidate;
    }
  }
  return best;
}

void proposeName(Diagnostic &diag, Location at, std::string_view name,
                 const std::vector<std::string> &candidates, std::string_view introduction) {
  if (std::string near = nearestName(name, candidates); !near.empty())
    diag.fix(at, near);
  else if (!introduction.empty())
    diag.help(std::string(introduction) + listNames(candidates));
}

std::string listNames(const std::vector<std::string> &names) {
  if (names.empty())
    return "nothing";
  std::string all;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i)
      all += i + 1 == names.size() ? " and " : ", ";
    all += "`" + names[i] + "`";
  }
  return all;
}

std::string listDivisors(int64_t number, size_t limit) {
  std::vector<int64_t> small, large;
  for (int64_t d = 1; d <= number / d; ++d) {
    if (number % d)
      continue;
    small.push_back(d);
    if (d != number / d)
      large.push_back(number / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  std::string all;
  for (size_t i = 0; i < std::min(limit, small.size()); ++i)
    all += (i ? ", " : "") + std::to_string(small[i]);
  return small.size() > limit ? all + ", ..." : all;
}

bool matchesPattern(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

} // namespace titan::sema
