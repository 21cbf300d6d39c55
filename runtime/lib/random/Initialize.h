// Initial values of parameters. The compiler describes a parameter's distribution as plain data.
// A rank fills just the runs of its shard (base/layout/ShardLayout.h).
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
#include <string_view>

namespace titan::rt {

struct Initializer {
  Init kind = Init::Constant;
  double scale = 0;
  double cut = 0; ///< in standard deviations; TruncatedNormal only
};

/// Writes elements [first, first + count) of the flattened global tensor to `out`, on the calling
/// thread.
void initializeRange(const Initializer &init, uint64_t seed, std::string_view name, int64_t first,
                     int64_t count, DType type, void *out);

} // namespace titan::rt
