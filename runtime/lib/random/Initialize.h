// Initial values of parameters. The compiler describes a parameter's distribution as plain data.
// The functions fill any box of the global tensor, so a rank fills just its shard.
//
// Element i (row-major in the global tensor) of parameter `name` with scale s is
//   Constant          s
//   Uniform           s * (2 U(i) - 1)      in [-s, s)
//   Normal            s * Z(i)              mean 0, standard deviation s
//   TruncatedNormal   s * T(i)              Z(i) restricted to [-cut, cut]
// where U, Z, T are the streams of base/random/RandomStream.h with purpose "init".
#pragma once

#include "titan/runtime/program.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace titan::rt {

struct Initializer {
  Init kind = Init::Constant;
  double scale = 0;
  double cut = 0; ///< in standard deviations; TruncatedNormal only
};

/// Fills elements [first, first + count) of the flattened global tensor into out, on the calling
/// thread.
void initializeRange(const Initializer &init, uint64_t seed, std::string_view name, int64_t first,
                     int64_t count, DType type, void *out);

/// Fills the box [offset, offset + extent) of a global tensor of this shape into out, row-major.
/// All three spans have the tensor's rank.
void initializeBox(const Initializer &init, uint64_t seed, std::string_view name,
                   std::span<const int64_t> shape, std::span<const int64_t> offset,
                   std::span<const int64_t> extent, DType type, void *out);

} // namespace titan::rt
