// Block sizes of sums in the element type (blocked_sum.h). The compiler includes this header too,
// so it includes no other runtime header.
#pragma once

#include <cstdint>

namespace titan {

/// Terms that are summed in sequence before the partial sum is added to a total.
constexpr int64_t kSumBlock = 16;
/// Terms of a vectorised loop that form one block for any vector width.
constexpr int64_t kMinLaneBlock = 128;

} // namespace titan
