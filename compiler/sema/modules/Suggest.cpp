#include "compiler/sema/modules/Suggest.h"

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

/// `layers.3.wq` without the iteration.
static std::string withoutNumbers(const std::string &pattern) {
  std::string rest;
  for (size_t from = 0; from <= pattern.size();) {
    size_t dot = std::min(pattern.find('.', from), pattern.size());
    std::string segment = pattern.substr(from, dot - from);
    if (segment.empty() || segment.find_first_not_of("0123456789") != std::string::npos)
      rest += (rest.empty() ? "" : ".") + segment;
    from = dot + 1;
  }
  return rest;
}

std::string widerPattern(const std::string &pattern, const std::vector<std::string> &names) {
  for (const std::string &wider :
       {withoutNumbers(pattern), "*." + pattern, "*." + pattern + "*", pattern + ".*"})
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string &name) { return matchesGlob(wider, name); }))
      return wider;
  return "";
}

} // namespace titan::sema
