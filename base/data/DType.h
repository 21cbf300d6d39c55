// The element types of tensors: of files, of the runtime and of emitted programs.
#pragma once

#include <cstdint>

namespace titan {

enum class DType : uint8_t { F64, F32, BF16, I64, Bool };

constexpr int64_t getByteSize(DType type) {
  return type == DType::F64 || type == DType::I64 ? 8
         : type == DType::F32                     ? 4
         : type == DType::BF16                    ? 2
                                                  : 1;
}

/// The name used in messages and `.titan` files.
constexpr const char *getName(DType type) {
  switch (type) {
  case DType::F64:
    return "f64";
  case DType::F32:
    return "f32";
  case DType::BF16:
    return "bf16";
  case DType::I64:
    return "i64";
  case DType::Bool:
    return "bool";
  }
  return "?";
}

} // namespace titan
