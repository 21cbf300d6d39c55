// Remedies for mistaken names and numbers: the nearest of the names that would have been legal, and
// the divisors among which a degree may be chosen.
#ifndef TITAN_COMPILER_SEMA_SUGGEST_H
#define TITAN_COMPILER_SEMA_SUGGEST_H

#include "compiler/diagnostics/Diagnostics.h"

#include "base/settings/UnknownSetting.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan::sema {

using titan::listNames;
using titan::nearestName;

/// Proposes the nearest of `candidates` for the `name` that stands at `at`. Where none is near,
/// `introduction` begins a list of them all; without one nothing is said.
void suggestName(Diagnostic &diag, Location at, std::string_view name,
                 const std::vector<std::string> &candidates, std::string_view introduction = {});

/// All divisors of `number` up to `limit` of them, ascending: "1, 2, 4, 8".
std::string listDivisors(int64_t number, size_t limit = 16);

/// Shell-like match of a whole name: `*` any run, `?` any character.
bool matchesPattern(std::string_view pattern, std::string_view name);

/// A pattern that would match some of the names where `pattern` matches none; empty if none is
/// near.
std::string widerPattern(const std::string &pattern, const std::vector<std::string> &names);

} // namespace titan::sema

#endif
