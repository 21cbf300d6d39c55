// What members of a group have of the same elements, reduced by one of them. In the order of the
// members, whatever brought the values there: so a sum has the same bits over every transport of
// ours. bf16 is summed in float and rounded once.
#pragma once

#include "titan/runtime/program.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace titan::rt {

/// out[0, count) = terms[0] op terms[1] op ...; `out` may be one of the terms, else overlaps none.
/// Throws Fault for booleans.
void combine(std::byte *out, std::span<const std::byte *const> terms, int64_t count, DType type,
             Reduction op);

} // namespace titan::rt
