// Reduces the members' terms of the same elements. The terms are combined in the order of the
// members, so a sum has the same bits over every transport of this runtime. bf16 is summed in float
// and rounded once.
#pragma once

#include "titan/runtime/program.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace titan::rt {

/// out[0, count) = terms[0] op terms[1] op ...; `out` is one of the terms or overlaps none. Throws
/// Fault for booleans.
void combine(std::byte *out, std::span<const std::byte *const> terms, int64_t count, DType type,
             Reduction op);

} // namespace titan::rt
