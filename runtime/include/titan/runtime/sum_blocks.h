// How many terms of a sum are added in the elements' own type (blocked_sum.h). Without other
// headers of the runtime: the compiler includes it, too.
#pragma once

#include <cstdint>

namespace titan::rt::tm {

/// Terms that are added one after the other before their sum joins a total.
constexpr int64_t kSumBlock = 16;
/// Terms of a loop whose iterations fill the lanes of vectors that are one block with any vectors.
constexpr int64_t kMinLaneBlock = 128;

} // namespace titan::rt::tm
