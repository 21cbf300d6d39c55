// Names of element types. The ABI (program.h) declares the types.
#pragma once

#include "titan/runtime/program.h"

namespace titan::rt {

/// The name in messages and `.titan` files.
constexpr const char *nameOf(DType type) {
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

} // namespace titan::rt
