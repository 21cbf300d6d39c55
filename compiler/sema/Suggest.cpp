#include "compiler/sema/Suggest.h"

#include <algorithm>

namespace titan::sema {

void suggestName(Diagnostic &diag, Location at, std::string_view name,
                 const std::vector<std::string> &candidates, std::string_view introduction) {
  if (std::string near = nearestName(name, candidates); !near.empty())
    diag.fix(at, near);
  else if (!introduction.empty())
    diag.help(std::string(introduction) + listNames(candidates));
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
