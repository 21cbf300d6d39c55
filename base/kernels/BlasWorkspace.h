// Device memory in which cuBLAS works. The compiler counts it too.
#pragma once

#include <cstdint>

namespace titan {

/// NVIDIA's recommendation for the largest devices.
constexpr int64_t kBlasWorkspaceBytes = int64_t{32} << 20;

} // namespace titan
