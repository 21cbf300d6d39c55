// Numbers of files as numbers of a program. Stored types have the names of the safetensors format
// ("F32", "BF16", "U8", ...).
#pragma once

#include "base/data/DType.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace titan::rt {

enum class NumberKind { Float, Integer, Truth };

/// The kind of a stored type; F8 types and U64 have none, as nothing reads them.
struct StoredType {
  std::string_view name;
  NumberKind kind;
  int64_t bytes; ///< of an element
};

/// Null for a type that cannot be converted.
const StoredType *findStoredType(std::string_view name);

/// Whether every stored number is a number of `type`, but for rounding of floating-point numbers:
/// integers and truth values convert to all types, floating-point numbers only to such.
bool converts(const StoredType &stored, DType type);

/// Converts `count` elements, which may be unaligned. `out` has the type `type`; `converts` must
/// hold.
void convertStored(const StoredType &stored, const std::byte *from, int64_t count, DType type,
                   void *out);

} // namespace titan::rt
