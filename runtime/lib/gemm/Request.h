// GEMM backends that the environment requests, to measure and test other processors' kernels.
// checkRequests() runs at the start of a program and throws UserError for unknown words.
#pragma once

namespace titan::rt {

/// TITAN_BF16. `vectors`: no AMX, for f32 either. `widen`: widen operands as on processors without
/// bf16 products. `native`: MKL, even where it emulates bf16.
enum class Bfloat16Request { Fastest, Vectors, Widen, Native };
Bfloat16Request requestForBfloat16();

/// TITAN_F32=blas: BLAS computes f32 GEMMs.
bool isBlasForced();

void checkRequests();

} // namespace titan::rt
