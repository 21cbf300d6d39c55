// Remedies for misspelled names and wrong numbers: the nearest legal name, and the divisors for a
// degree.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

#include "base/settings/UnknownSetting.h"
#include "base/text/Glob.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan::sema {

using titan::listNames;
using titan::matchesGlob;
using titan::nearestName;

/// Suggests the nearest of `candidates` for the `name` at `at`. Without a near one, lists all
/// candidates after `introduction`, or nothing if that is empty.
void suggestName(Diagnostic &diag, Location at, std::string_view name,
                 const std::vector<std::string> &candidates, std::string_view introduction = {});

/// All divisors of `number` up to `limit` of them, ascending: "1, 2, 4, 8".
std::string listDivisors(int64_t number, size_t limit = 16);

/// A pattern that would match some of the names where `pattern` matches none; empty if none is
/// near.
std::string widerPattern(const std::string &pattern, const std::vector<std::string> &names);

} // namespace titan::sema
