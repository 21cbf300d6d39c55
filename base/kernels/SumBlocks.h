// Block sizes of blocked summation: a few terms are summed in their element type, and these partial
// sums in double (runtime/include/titan/runtime/blocked_sum.h). The compiler includes this header
// too, so it includes only the standard library.
#pragma once

#include <cstdint>

namespace titan {

/// Terms that are summed in sequence before the partial sum is added to a total.
constexpr int64_t kSumBlock = 16;
/// Terms of a vectorised loop that form one block for any vector width.
constexpr int64_t kMinLaneBlock = 128;

} // namespace titan
