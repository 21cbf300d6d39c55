// Remedies for mistaken names and numbers: the nearest of the names that would have been legal, and
// the divisors among which a degree may be chosen.
#ifndef TITAN_COMPILER_SEMA_SUGGEST_H
#define TITAN_COMPILER_SEMA_SUGGEST_H

#include "compiler/diagnostics/Diagnostics.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan::sema {

/// The candidate with the smallest edit distance (a swap of neighbours counts as one edit), or
/// nothing when none is near enough to be what was meant: a third of the name's length, at least 1.
std::string nearestName(std::string_view name, const std::vector<std::string> &candidates);

/// Proposes the nearest of `candidates` for the `name` that stands at `at`. Where none is near,
/// `introduction` begins a list of them all; without one nothing is said.
void proposeName(Diagnostic &diag, Location at, std::string_view name,
                 const std::vector<std::string> &candidates, std::string_view introduction = {});

/// "`a`, `b` and `c`"; "nothing" for an empty list.
std::string listNames(const std::vector<std::string> &names);

/// All divisors of `number` up to `limit` of them, ascending: "1, 2, 4, 8".
std::string listDivisors(int64_t number, size_t limit = 16);

/// Shell-like match of a whole name: `*` any run, `?` any character.
bool matchesPattern(std::string_view pattern, std::string_view name);

} // namespace titan::sema

#endif
