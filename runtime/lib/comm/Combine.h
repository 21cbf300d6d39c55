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

/// The type of an unfinished reduction of elements of `type`: float for bf16, else `type`.
inline DType partialType(DType type) {
  return type == DType::BF16 ? DType::F32 : type;
}
/// One step of combine(): partial[0, count) = before op terms, where `before` is an unfinished
/// reduction or, if `isFirst`, the terms of the first member.
void combineNext(std::byte *partial, const std::byte *before, bool isFirst, const std::byte *terms,
                 int64_t count, DType type, Reduction op);
/// The last step of combine(): rounds an unfinished reduction.
void combineLast(std::byte *out, const std::byte *partial, int64_t count, DType type);

} // namespace titan::rt
