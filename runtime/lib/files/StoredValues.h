// Conversions between numbers in files and numbers of a program. Stored types have the names of the
// safetensors format ("F32", "BF16", "U8", ...).
#pragma once

#include "base/data/DType.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace titan::rt {

enum class NumberKind { Float, Integer, Truth };

/// A stored type that can be converted: any of safetensors but F8 types and U64.
struct StoredType {
  std::string_view name;
  NumberKind kind;
  int64_t bytes; ///< of an element
};

/// Null for a type that cannot be converted.
const StoredType *findStoredType(std::string_view name);

/// Whether numbers of the stored type convert to `type`: floating-point numbers to floating-point
/// types, integers to all types but Bool, truth values to all types. Floating-point types round.
bool converts(const StoredType &stored, DType type);

/// Converts `count` elements, which may be unaligned. `out` has the type `type`; `converts` must
/// hold.
void convertStored(const StoredType &stored, const std::byte *from, int64_t count, DType type,
                   void *out);

/// Converts `count` elements of a floating-point type to a stored floating-point type, rounding to
/// nearest even; from f64 to a 16-bit type by way of f32, as PyTorch does. Returns false if a
/// finite number is beyond the stored type's range.
bool storeValues(DType type, const std::byte *from, int64_t count, const StoredType &stored,
                 std::byte *out);

} // namespace titan::rt
