// What the environment asks of products instead of what is fastest, to measure and test what other
// processors do. Unknown words are refused with a UserError, by checkRequests() when a program
// starts.
#pragma once

namespace titan::rt {

/// TITAN_BF16: on vectors although there are tiles, also products of floats; widened as where
/// nothing multiplies bf16; or by MKL, also where that emulates it.
enum class Bfloat16Request { Fastest, Vectors, Widen, Native };
Bfloat16Request requestForBfloat16();

/// TITAN_F32=blas: BLAS multiplies floats.
bool isBlasForced();

void checkRequests();

} // namespace titan::rt
