// Attention's tensors as operands of products on tiles.
#pragma once

#include "AmxAttention.h"

#include "titan/runtime/program.h"

#include <type_traits>

namespace titan::rt {

/// Memory in which tiles find lines of E.
template <typename E> bool fitsTiles(const AttentionStrides &at) {
  return std::is_same_v<E, bf16> && at.element == 1;
}

inline amx::Operand linesOf(const void *from, const AttentionStrides &at) {
  return {static_cast<const uint16_t *>(from), at.position, true};
}
/// The same with lines and depth exchanged.
inline amx::Operand depthOf(const void *from, const AttentionStrides &at) {
  return {static_cast<const uint16_t *>(from), at.position, false};
}

} // namespace titan::rt
