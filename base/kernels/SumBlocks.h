// How many terms of a sum are added in the elements' own type (blocked_sum.h).
#pragma once

#include <cstdint>

namespace titan {

/// Terms that are added one after the other before their sum joins a total.
constexpr int64_t kSumBlock = 16;
/// Terms of a loop whose iterations fill the lanes of vectors that are one block with any vectors.
constexpr int64_t kMinLaneBlock = 128;

} // namespace titan
