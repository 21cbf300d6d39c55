// The size of a block of rows of a grouped matrix product (titan.grouped_contract). The compiler
// plans memory for blocks, so it includes this header too.
#pragma once

#include <cstdint>

namespace titan {

/// Rows of a block: enough that a product costs more than packing its weights, an element of the
/// table.
constexpr int64_t kGroupedRows = 512;

} // namespace titan
