// Suggestions for misspelled names, for the compiler and for its programs. Plain data, header-only.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace titan {

/// Optimal string alignment distance: insertions, deletions, replacements, swaps of neighbours.
inline size_t editDistance(std::string_view a, std::string_view b) {
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

/// The candidate with the smallest edit distance (a transposition is one edit), or nothing if none
/// is within a third of the name's length (at least 1).
inline std::string nearestName(std::string_view name, const std::vector<std::string> &candidates) {
  constexpr size_t longest = 64; // longer names are not misspelled by a letter
  std::string best;
  size_t bestDistance = std::max<size_t>(1, name.size() / 3) + 1, bestPrefix = 0;
  constexpr size_t mostCandidates = 10'000; // bounds the time of a suggestion
  if (name.empty() || name.size() > longest || candidates.size() > mostCandidates)
    return best;
  for (const std::string &candidate : candidates) {
    if (candidate.size() > longest || candidate == name)
      continue;
    size_t distance = editDistance(name, candidate);
    // Of two equally near names, prefer the longer common prefix.
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

} // namespace titan
