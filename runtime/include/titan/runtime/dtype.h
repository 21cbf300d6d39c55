// Element types of raw buffers. The runtime moves and reduces buffers without tensor objects, so a
// type travels as this tag beside the pointer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace titan::rt {

enum class DType : uint8_t { F32, F64, BF16, I32, I64, U8, Bool };

/// Bytes of one element.
constexpr size_t sizeOf(DType type) {
  switch (type) {
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::BF16:
    return 2;
  case DType::U8:
  case DType::Bool:
    return 1;
  }
  return 0;
}

/// The name used in messages and `.titan` files.
constexpr const char *nameOf(DType type) {
  switch (type) {
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  case DType::BF16:
    return "bf16";
  case DType::I32:
    return "i32";
  case DType::I64:
    return "i64";
  case DType::U8:
    return "u8";
  case DType::Bool:
    return "bool";
  }
  return "?";
}

} // namespace titan::rt
