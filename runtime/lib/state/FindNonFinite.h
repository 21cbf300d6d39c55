// Looks for parameters that are not finite: one such number makes every result not a number.
#pragma once

#include "Executor.h"

#include <cstddef>
#include <span>
#include <string>

namespace titan::rt {

/// Whether one of the elements of this type is infinite or not a number. Integers are finite.
bool hasNonFinite(std::span<const std::byte> elements, DType type);

/// The name in files of the first parameter with such an element on any rank; empty if there is
/// none. Collective.
std::string findNonFinite(Executor &executor);

} // namespace titan::rt
